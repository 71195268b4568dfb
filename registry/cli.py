"""Command line `registry`: place and help line of every command. A command is imported only when it is called."""

import click

from registry.commands.group import LazyGroup
from results_registry import __version__

SECTIONS = {
    "Results": {
        "push": ("registry.commands.push:push", "Send the grids of files, folders or an MLflow server."),
        "watch": ("registry.commands.push:watch", "Push files as a harness writes them into folders."),
        "mapping": ("registry.commands.push:mapping", "Propose how the files of an archive are read."),
        "ls": ("registry.commands.listing:ls", "List projects, grids, or the names in use."),
        "show": ("registry.commands.show:show", "Show a grid, as a heatmap on a terminal."),
        "pull": ("registry.commands.pull:pull", "Write a grid, a heatmap, or all cells of many."),
        "mirror": ("registry.commands.mirror:mirror", "Keep the cells of projects as Parquet files."),
        "describe": ("registry.commands.grid:describe", "Show or change the description and labels of something."),
        "project": ("registry.commands.projects:project", "Make, list and delete projects."),
        "grid": ("registry.commands.grid:grid", "Delete grids, and restore deleted ones."),
        "alias": ("registry.commands.projects:alias", "Let two names count as one."),
        "share": ("registry.commands.projects:share", "Make, list and revoke links that need no token."),
        "baseline": ("registry.commands.baselines:baseline", "Set, show, list and delete baselines of gates."),
        "claim": ("registry.commands.check:claim", "Keep claims, list, show and remove them."),
        "mcp": ("registry.commands.mcp:mcp", "Answer a language model's questions, as tools of MCP."),
        "events": ("registry.commands.events:events", "Show what was done in a project, and what happens."),
        "protocol": ("registry.commands.projects:protocol", "Show and set which keys of protocols bind."),
        "suite": ("registry.commands.projects:suite", "Set, list and delete lists of benchmarks."),
        "sync": ("registry.commands.push:sync_command", "Send what jobs could not send themselves."),
    },
    "Statistics": {
        "rank": ("registry.commands.rank:rank", "Rank models, variants or the levels of an axis."),
        "table": ("registry.commands.rank:table", "Tabulate means, bests or numbers of cells."),
        "trends": ("registry.commands.show:trends", "Show how values change along the axes, and how surely."),
        "peaks": ("registry.commands.show:peaks", "Show the best cells, and which others may be the best."),
        "noise": ("registry.commands.rank:noise", "Show by how much values vary when nothing was changed."),
        "floor": ("registry.commands.rank:floor", "Show a threshold for further runs of a model."),
        "plan": ("registry.commands.rank:plan", "Plan trials: what would show a difference."),
        "gate": ("registry.commands.gate:gate", "Judge a contender by a baseline's policy; fail unless it is kept."),
        "check": ("registry.commands.check:check", "Judge the claims in a README or claims.toml."),
        "flips": ("registry.commands.compare:flips", "Show which questions flipped between two grids."),
        "compare": ("registry.commands.compare:compare", "Compare two models, or two grids."),
    },
    "Account": {
        "login": ("registry.commands.account:login", "Try a token and store it for a registry."),
        "logout": ("registry.commands.account:logout", "Delete the stored token of a registry."),
        "whoami": ("registry.commands.account:whoami", "Show which token is used, and what it may do."),
    },
    "The service": {
        "up": ("registry.commands.processes:up", "Run everything on this machine until Ctrl-C."),
        "serve": ("registry.commands.processes:serve", "Serve HTTP; the database must be migrated."),
        "worker": ("registry.commands.processes:worker", "Run a worker, which computes statistics and rankings."),
        "dispatch": ("registry.commands.processes:dispatch", "Run the dispatcher, which wakes the workers."),
        "migrate": ("registry.commands.processes:migrate", "Bring the database to this version's schema."),
        "doctor": ("registry.commands.upkeep:doctor", "Check the health of the registry."),
        "verify": ("registry.commands.upkeep:verify", "Compute everything again, and compare."),
        "backup": ("registry.commands.upkeep:backup", "Write the whole database to a file."),
        "restore": ("registry.commands.upkeep:restore", "Restore the database from a file."),
        "retry": ("registry.commands.upkeep:retry_command", "Try failed statistics and rankings again."),
        "partition": ("registry.commands.upkeep:partition_command", "Bring the largest tables into partitions."),
        "purge": ("registry.commands.upkeep:purge_command", "Remove for good what was deleted long ago."),
        "bi-role": ("registry.commands.upkeep:bi_role", "Make a database role for SQL tools."),
        "token": ("registry.commands.token:token", "Make a token, or list and revoke those of a project."),
    },
    "More": {
        "completion": ("registry.commands.generated:completion", "Print the completion script of a shell."),
        "openapi": ("registry.commands.generated:openapi", "Print the OpenAPI document as YAML."),
    },
}


def say_version(context: click.Context, _option: click.Parameter, wanted: bool) -> None:
    """Print version and, where it is known, the commit."""
    if wanted and not context.resilient_parsing:
        from registry.commands.generated import commit

        built = commit()
        click.echo(f"registry, version {__version__}" + (f" (commit {built[:12]})" if built else ""))
        context.exit()


@click.group(cls=LazyGroup, sections=SECTIONS, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=say_version, help="Say which it is."
)
@click.option("--debug", is_flag=True, help="Show the trace of an error instead of one sentence.")
def main(debug: bool) -> None:
    """Registry of experiment results: grids in, statistics with their uncertainty out."""
