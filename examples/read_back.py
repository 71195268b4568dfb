"""Read what evaluation_sweep.py published: a table in pandas, its trends with their intervals, and a ranking."""

from results_registry import cells, grid, grids, ranking, statistics


def main():
    found = grids(experiment="juries", metric="accuracy", sort="model")
    print(found.to_pandas()[["model", "shape", "cell_count", "revision"]].to_string(index=False))

    [majority] = [one for one in found if one["model"] == "majority"]
    print("\nmajority, accuracy (%)")
    print(grid(majority["id"]).to_pandas().round(1))

    print("\nalong Size, for each skill")
    for series in statistics(majority)["series"]:
        if series["along"] == "Size":
            change, skill = series["end_change"], series["at"]["Skill"]
            low, high = change["interval"]["low"], change["interval"]["high"]
            found = f"{series['direction']}, {change['value']:+.1f} points"
            print(f"{skill}: {found}, 95 % interval [{low:+.1f}, {high:+.1f}]")

    print("\nmean over all cells")
    print(cells(experiment="juries").to_pandas().groupby("model")["value"].mean().round(1).to_string())

    print("\nranking over the slots that all share")
    for one in ranking("juries", "accuracy")["ranking"]:
        print(f"{one['rank']}. {one['name']} (rank {one['rank_low']} to {one['rank_high']})")


if __name__ == "__main__":
    main()
