"""The shapes of answers about experiments: rankings and sweet spots."""

from __future__ import annotations

from registry.api.shapes.words import (
    ANY,
    ASSUMES,
    COUNT,
    DETECTABLE,
    INSTANT,
    NULLABLE,
    NULLABLE_TEXT,
    NUMBER,
    STATUS,
    TEXT,
    Shape,
    array_of,
    described,
    described_object,
    nullable,
    object_of,
    ref,
    statistic,
)
from registry.query import METHODS, MISSING, TARGETS

DERIVED = described(
    array_of(ref("DerivedGrid")),
    "Grids that were declared to be made of others, such as an average: not ranked and not counted.",
)

ASKED: dict[str, Shape] = {
    "Ranked": described_object(
        "A name in a ranking.",
        "rank name score rank_low rank_high group cells wins ties losses",
        rank=described({"type": ["integer", "null"]}, "Equal scores share a rank; counted within a component."),
        name=described(TEXT, "What is ranked: a model, a variant or a level."),
        score=described(
            NULLABLE,
            "By the method. For mean_difference in the metric's unit, against the mean of the `pool` names: another "
            "name in the pool moves every score.",
        ),
        pool=described(
            {"type": ["integer", "null"]},
            "How many names the score is relative to; null for a method whose score is not relative.",
        ),
        stderr=described(
            NULLABLE, "bradley_terry: sandwich error, which allows for comparisons that share a slot; null otherwise."
        ),
        rank_low=described({"type": ["integer", "null"]}, "1 + how many are significantly better."),
        rank_high=described({"type": ["integer", "null"]}, "All less how many are significantly worse."),
        group=described(
            array_of(TEXT), "Names that share a letter all met each other, and the tests do not separate them."
        ),
        component=described(COUNT, "The number of its component, from 0."),
        cells=described(COUNT, "How many cells it has in this scope."),
        wins=described(COUNT, "Slots in which it was better than another name, summed over the others."),
        ties=described(COUNT, "Slots in which it was as good."),
        losses=described(COUNT, "Slots in which it was worse."),
    ),
    "Pair": described_object(
        "Two names, compared over the slots that both have.",
        "a b n_common wins ties losses lead estimand difference interval p p_holm detectable test target",
        a=described(TEXT, "The first name."),
        b=described(TEXT, "The second name."),
        status=STATUS,
        reason=described(NULLABLE_TEXT, "Why `status` is not ok; left out where it is."),
        n_common=described(COUNT, "Slots that both have; without any, the pair is not_comparable."),
        benchmarks=described(COUNT, "Benchmarks among these slots."),
        wins=described(COUNT, "Slots in which a is better."),
        ties=described(COUNT, "Slots in which both are as good."),
        losses=described(COUNT, "Slots in which b is better."),
        lead=described(NULLABLE, "Wins less losses over slots, -1 to 1; benchmarks weigh equally."),
        estimand=described(
            {"enum": ["difference", "lead", None]},
            "What `p`, `p_holm` and the order are about: the difference, or for methods that count, the lead.",
        ),
        difference=described(
            NULLABLE,
            "a less b: the mean over benchmarks of the estimate within each, benchmarks weighing equally. The one "
            "estimate that interval, p, rank and group come from. Null where the lead is estimated.",
        ),
        interval=described(nullable(ref("Interval")), "Of `difference`."),
        stderr=described(NULLABLE, "Of `difference`."),
        df=described(NULLABLE, "Degrees of freedom of its t law; null where the law is normal or exact."),
        p=described(NULLABLE, "The p-value of the pair; null where nothing could be tested."),
        p_holm=described(NULLABLE, "Holm over all pairs."),
        detectable=DETECTABLE,
        min_attainable_p=described(NULLABLE, "The smallest p that so many slots can give."),
        test=described(NULLABLE_TEXT, "The test that was used; null: none."),
        target=described({"enum": [*TARGETS, None]}, "What the test holds for; null where nothing was tested."),
    ),
    "Resampling": statistic(
        "component benchmarks level law resamples seed ranked names",
        "The ranks of one component when its benchmarks are drawn again with replacement. insufficient: fewer than two "
        "names or than eight benchmarks, or more work than the bound that the reason names.",
        component=described(COUNT, "The number of the component, from 0."),
        benchmarks=described(COUNT, "How many benchmarks it has."),
        level=described(NUMBER, "Of the ranges: 1 less alpha."),
        law=described({"enum": ["bootstrap", None]}, "How benchmarks were drawn; null: not at all."),
        resamples=described(COUNT, "How many times."),
        seed=described({"type": ["integer", "null"]}, "Of the bootstrap's generator, PCG64."),
        ranked=described(NULLABLE, "The share of resamples that rank all names together; the rest is given that."),
        names=described(
            array_of(
                object_of(
                    "name rank low median high first_share shares",
                    name=described(TEXT, "What is ranked."),
                    rank=described(COUNT, "Its rank as it is."),
                    low=described(COUNT, "The best rank of the range."),
                    median=described(COUNT, "The median rank."),
                    high=described(COUNT, "The worst rank of the range."),
                    first_share=described(
                        NUMBER,
                        "The share of resamples in which it is first, shared or not. No probability of being best.",
                    ),
                    shares=described(
                        array_of(
                            object_of(
                                "rank share",
                                rank=described(COUNT, "A rank."),
                                share=described(NUMBER, "The share of resamples that give it, 0 to 1."),
                            )
                        ),
                        "The share of resamples at each rank; left out above fifty names.",
                    ),
                )
            ),
            "The ranks of each name.",
        ),
    ),
    "Stability": described_object(
        "How far the ranks hold under other choices.",
        "leave_one_out agreement resampling",
        leave_one_out=described(
            array_of(
                object_of(
                    "name best worst",
                    name=described(TEXT, "What is ranked."),
                    best=described(COUNT, "Its best rank."),
                    worst=described(COUNT, "Its worst rank."),
                )
            ),
            "The range of ranks when each benchmark is left out in turn.",
        ),
        agreement=described(
            array_of(
                object_of(
                    "method missing tau",
                    method=described(TEXT, "The other method."),
                    missing=described(TEXT, "The other policy for missing slots."),
                    tau=described(NULLABLE, "From -1 to 1; null where it has no order."),
                )
            ),
            "Kendall's tau-b with the other methods and policies.",
        ),
        resampling=described(array_of(ref("Resampling")), "One for each component."),
    ),
    "Ranking": described_object(
        "Names in order over the slots that they share.",
        "by method missing alpha experiment metric state",
        by=described(TEXT, "What is ranked: `model`, `variant` or `axis:<name>`."),
        method=described({"enum": list(METHODS)}, "What scores come from."),
        missing=described({"enum": list(MISSING)}, "What is made of slots that not all names have."),
        alpha=described(NUMBER, "The level of the tests."),
        target=described(
            {"enum": list(TARGETS)},
            "rerun: these cells again, other trials. new_questions: other questions of the same benchmarks. "
            "new_benchmarks: other benchmarks of the same kind.",
        ),
        assumes=ASSUMES,
        experiment=described(TEXT, "The experiment that was asked about."),
        metric=described(TEXT, "The name of the metric."),
        benchmarks=described(array_of(TEXT), "The benchmarks of the grids that were compared."),
        variant=described(array_of(TEXT), "Only these variants were asked for; empty: all."),
        status=STATUS,
        reason=described(NULLABLE_TEXT, "Why `status` is not ok; left out where it is."),
        slots=described(
            object_of(
                "total compared",
                total=described(COUNT, "Slots in which any name was measured."),
                compared=described(COUNT, "Slots that went into the scores."),
            ),
            "A slot is a cell of a benchmark (and variant) that names may share.",
        ),
        ranking=described(array_of(ref("Ranked")), "The names, the best first."),
        groups=described(
            array_of(array_of(TEXT)), "The maximal sets of names that all met and that the tests do not separate."
        ),
        never_met=described(
            array_of(array_of(TEXT)),
            "Pairs of names of one component without a common slot: their order rests on third names alone.",
        ),
        pairs=described(array_of(ref("Pair")), "Every two names."),
        components=described(array_of(array_of(TEXT)), "Names that are linked by shared slots; one ranking for each."),
        policy_sensitivity=described(ANY, "How far each name moves under the other methods and missing policies."),
        stability=ref("Stability"),
        mle_exists=described({"type": ["boolean", "null"]}, "bradley_terry: finite without a prior?"),
        prior=described(
            {"enum": ["half_tie", None]},
            "bradley_terry: half a tie between any two, where the maximum likelihood does not exist; null where it is "
            "served.",
        ),
        friedman=described(nullable(ref("Friedman")), "mean_rank and borda: complete blocks, a benchmark each."),
        derived=DERIVED,
        left_out=described(
            array_of(
                object_of(
                    "part reason", part=described(TEXT, "The part."), reason=described(TEXT, "Why it is left out.")
                )
            ),
            "Parts that a ranking of very many cells or names does without, and why.",
        ),
        inputs=described(array_of(ref("Input")), "The grids, and which revision of each."),
        inputs_left_out=described(
            object_of(
                "count checksum",
                count=described(COUNT, "How many grids."),
                checksum=described(TEXT, "The sum, in hexadecimal."),
            ),
            "In place of `inputs` where a ranking is made from sums of pairs: how many grids, and the sum modulo 2^128 "
            "of the first 128 bits of SHA-256(grid id, revision as 8 bytes) over them.",
        ),
        warnings=described(array_of(ref("Warning")), "Doubts about the inputs, such as names that nearly match."),
        methods_version=described(TEXT, "Changes whenever a stored number would come out differently."),
        computed_at=described(INSTANT, "When it was computed."),
        state={"enum": ["ready", "failed"]},
        attempts=COUNT,
    ),
}
