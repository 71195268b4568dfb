"""A sweep kept in xarray: published as it is, holes included, and read back as the same array."""

import numpy as np
import xarray as xr

from results_registry import grid, log_grid


def main():
    rates, widths = np.array([0.001, 0.01, 0.1, 1.0]), np.array([8, 32, 128])
    losses = np.log10(rates)[:, None] ** 2 / 4 + 8 / widths[None, :]
    losses[3, 2] = np.nan  # this run was never made
    array = xr.DataArray(losses, dims=["Learning rate", "Width"], coords={"Learning rate": rates, "Width": widths})

    # strict: wait for the answer and raise what goes wrong, as a script may that is no training job
    published = log_grid(
        array,
        experiment="rate-by-width", benchmark="toy", model="bowl", metric={"name": "loss", "direction": "lower"},
        axes=[{"name": "Learning rate", "kind": "numeric", "scale": "log"}, {"name": "Width", "kind": "numeric"}],
        strict=True,
    ).grid  # fmt: skip
    back = grid(published["id"]).to_xarray()
    print(back.round(3).to_pandas())
    print("the same to the last bit:", back.equals(array.astype(float)))


if __name__ == "__main__":
    main()
