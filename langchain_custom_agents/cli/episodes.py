"""`lca episodes`: logged runs, read again by our agents."""

from dataclasses import asdict
from pathlib import Path

import click


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--json", "as_object", is_flag=True, help="Print one JSON object.")
@click.option("--differences", is_flag=True, help="Show every step and score that differs.")
def episodes(file: Path, as_object: bool, differences: bool) -> None:
    """Read the logged runs in FILE again, and say where our agent would do something else.

    FILE holds an episode in each line, as JSON: `format`, `question`, `steps` with `llm_output`,
    `label` and `observation`, and if it is scored `gold_answer` and `success_logged`.
    """
    from langchain_custom_agents.cli.show import as_json
    from langchain_custom_agents.records.episodes import read_episodes, report, summary
    from langchain_custom_agents.records.visible import visible

    try:
        found = report(read_episodes(file))
    except UnicodeDecodeError as error:
        msg = f"{file} is not UTF-8 text (byte {error.start}): give a file of JSON lines."
        raise click.ClickException(msg) from error
    except (ValueError, KeyError) as error:
        missing = f"An episode lacks {error}." if isinstance(error, KeyError) else str(error)
        raise click.ClickException(missing) from error
    if as_object:
        click.echo(as_json(asdict(found)))
        return
    for line in summary(found):
        click.echo(line)
    if differences:
        for step in found.differences:
            why = f" ({step.why})" if step.why else ""
            click.echo(visible(f"\n{step.episode} step {step.number}: {step.verdict}{why}"))
            click.echo(visible(f"  log:  {' '.join(step.logged.split())[:300]}"))
            click.echo(visible(f"  ours: {' '.join(step.ours.split())[:300]}"))
        for score in found.scores:
            if score.why:
                click.echo(visible(f"\n{score.episode}: {score.why}"))
                click.echo(visible(f"  gold: {score.gold}\n  ours: {score.ours}"))
