"""The shapes of answers about experiments: rankings and sweet spots."""

from __future__ import annotations

from registry.api.shapes.words import (
    ANY,
    ASSUMES,
    AT,
    COUNT,
    DETECTABLE,
    ID,
    INSTANT,
    NULLABLE,
    NULLABLE_TEXT,
    NUMBER,
    PLAIN,
    STATUS,
    TEXT,
    Shape,
    array_of,
    described,
    nullable,
    object_of,
    ref,
    statistic,
)
from registry.query import METHODS, MISSING, TARGETS

ASKED: dict[str, Shape] = {
    "Favourite": object_of("value at", value=NUMBER, at=array_of(AT)),
    "SweetSpot": object_of(
        "experiment metric state",
        experiment=TEXT,
        metric=TEXT,
        state={"enum": ["ready", "failed"]},
        status=STATUS,
        reason=NULLABLE_TEXT,
        grids=COUNT,
        common_cells=COUNT,
        mean_rank=nullable(ref("Favourite")),
        best_rank_p=NULLABLE
        | {"description": "A bound on the probability that any cell had so low a mean rank by chance."},
        mean_z=nullable(ref("Favourite")),
        mean_regret=nullable(ref("Favourite")),
        mean_normalised_regret=nullable(ref("Favourite")),
        minimax_normalised_regret=nullable(ref("Favourite")),
        pareto=array_of(AT),
        pareto_count=COUNT,
        agreement=nullable(object_of("grids at p", grids=COUNT, at=array_of(AT), p=NUMBER)),
        friedman=nullable(ref("Friedman")),
        axes=nullable({"type": "object", "additionalProperties": PLAIN}),
        inputs=array_of(object_of("grid revision", grid=ID, revision=COUNT)),
        methods_version=TEXT,
        computed_at=INSTANT,
        attempts=COUNT,
    ),
    "Friedman": object_of(
        "status mean_ranks chi2 df p",
        status=STATUS,
        reason=NULLABLE_TEXT,
        mean_ranks=array_of(NUMBER),
        chi2=NULLABLE | {"description": "Corrected for ties."},
        df=COUNT,
        p=NULLABLE,
        iman_davenport=nullable(object_of("f p", f=NULLABLE, p=NULLABLE)),
        exact_p=NULLABLE | {"description": "Over all permutations within blocks, where they can be enumerated."},
        critical_difference=nullable(object_of("alpha value", alpha=NUMBER, value=NULLABLE)),
        blocks=COUNT,
    ),
    "Ranked": object_of(
        "rank name score rank_low rank_high group cells wins ties losses",
        rank=described({"type": ["integer", "null"]}, "Equal scores share a rank; counted within a component."),
        name=TEXT,
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
        component=COUNT,
        cells=COUNT,
        wins=COUNT,
        ties=COUNT,
        losses=COUNT,
    ),
    "Pair": object_of(
        "a b n_common wins ties losses lead estimand difference interval p p_holm detectable test target",
        a=TEXT,
        b=TEXT,
        status=STATUS,
        reason=NULLABLE_TEXT,
        n_common=described(COUNT, "Slots that both have; without any, the pair is not_comparable."),
        benchmarks=described(COUNT, "Benchmarks among these slots."),
        wins=COUNT,
        ties=COUNT,
        losses=COUNT,
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
        p=NULLABLE,
        p_holm=described(NULLABLE, "Holm over all pairs."),
        detectable=DETECTABLE,
        min_attainable_p=NULLABLE,
        test=NULLABLE_TEXT,
        target={"enum": [*TARGETS, None]},
    ),
    "Resampling": statistic(
        "component benchmarks level law resamples seed ranked names",
        "The ranks of one component when its benchmarks are drawn again with replacement. insufficient: fewer than two "
        "names or than eight benchmarks, or more work than the bound that the reason names.",
        component=COUNT,
        benchmarks=COUNT,
        level=described(NUMBER, "Of the ranges: 1 less alpha."),
        law={"enum": ["bootstrap", None]},
        resamples=COUNT,
        seed=described({"type": ["integer", "null"]}, "Of the bootstrap's generator, PCG64."),
        ranked=described(NULLABLE, "The share of resamples that rank all names together; the rest is given that."),
        names=array_of(
            object_of(
                "name rank low median high first_share shares",
                name=TEXT,
                rank=COUNT,
                low=COUNT,
                median=COUNT,
                high=COUNT,
                first_share=described(
                    NUMBER, "The share of resamples in which it is first, shared or not. No probability of being best."
                ),
                shares=described(
                    array_of(object_of("rank share", rank=COUNT, share=NUMBER)),
                    "The share of resamples at each rank; left out above fifty names.",
                ),
            )
        ),
    ),
    "Stability": object_of(
        "leave_one_out agreement resampling",
        leave_one_out=described(
            array_of(object_of("name best worst", name=TEXT, best=COUNT, worst=COUNT)),
            "The range of ranks when each benchmark is left out in turn.",
        ),
        agreement=described(
            array_of(object_of("method missing tau", method=TEXT, missing=TEXT, tau=NULLABLE)),
            "Kendall's tau-b with the other methods and policies.",
        ),
        resampling=described(array_of(ref("Resampling")), "One for each component."),
    ),
    "Ranking": object_of(
        "by method missing alpha experiment metric state",
        by=TEXT,
        method={"enum": list(METHODS)},
        missing={"enum": list(MISSING)},
        alpha=NUMBER,
        target=described(
            {"enum": list(TARGETS)},
            "rerun: these cells again, other trials. new_questions: other questions of the same benchmarks. "
            "new_benchmarks: other benchmarks of the same kind.",
        ),
        assumes=ASSUMES,
        experiment=TEXT,
        metric=TEXT,
        benchmarks=array_of(TEXT),
        variant=array_of(TEXT),
        status=STATUS,
        reason=NULLABLE_TEXT,
        slots=object_of("total compared", total=COUNT, compared=COUNT),
        ranking=array_of(ref("Ranked")),
        groups=described(
            array_of(array_of(TEXT)), "The maximal sets of names that all met and that the tests do not separate."
        ),
        never_met=described(
            array_of(array_of(TEXT)),
            "Pairs of names of one component without a common slot: their order rests on third names alone.",
        ),
        pairs=array_of(ref("Pair")),
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
        derived=described(
            array_of(object_of("grid benchmark model", grid=ID, benchmark=TEXT, model=TEXT)),
            "Grids that were declared to be made of others, such as an average: not ranked and not counted.",
        ),
        left_out=described(
            array_of(object_of("part reason", part=TEXT, reason=TEXT)),
            "Parts that a ranking of very many cells or names does without, and why.",
        ),
        inputs=array_of(object_of("grid revision", grid=ID, revision=COUNT)),
        inputs_left_out=described(
            object_of("count checksum", count=COUNT, checksum=TEXT),
            "In place of `inputs` where a ranking is made from sums of pairs: how many grids, and the sum modulo 2^128 "
            "of the first 128 bits of SHA-256(grid id, revision as 8 bytes) over them.",
        ),
        warnings=array_of(ref("Warning")),
        methods_version=TEXT,
        computed_at=INSTANT,
        state={"enum": ["ready", "failed"]},
        attempts=COUNT,
    ),
}
