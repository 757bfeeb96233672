"""Score readers on turns whose meaning is known.

    python -m benchmarks.readers --smoke            the sample in this folder
    python -m benchmarks.readers FOLDER             every *.jsonl in a folder
    python -m benchmarks.readers FOLDER --by source_repo --errors 5 --json scores.json

A record is one turn: `format`, `tools`, `llm_output` (a text; for "functions" the provider's
message as JSON) and `label` {kind: action|finish|malformed, tool, tool_input, answer, intended}.
"""

import argparse
import collections
import json
import sys
import time
from pathlib import Path

from benchmarks.readers.readers import readers
from benchmarks.readers.scoring import COLUMNS, outcome, rates

HERE = Path(__file__).parent


def load(folder):
    """Read every record of a folder that has a format and a label."""
    records = []
    for file in sorted(Path(folder).glob("*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            if "llm_output" in record and "label" in record:
                records.append(record)
    # A turn may stand in two files: among its kind, and among the malformed ones.
    return list(
        {record.get("turn_id", number): record for number, record in enumerate(records)}.values()
    )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", help="a folder of *.jsonl files")
    parser.add_argument(
        "--smoke", action="store_true", help="the sample, ours only, must be all right"
    )
    parser.add_argument("--by", help="break down by a field of the record as well")
    parser.add_argument("--errors", type=int, default=0, help="show so many disagreements of each")
    parser.add_argument("--json", type=Path, help="write every figure here")
    args = parser.parse_args()
    if not args.smoke and not args.folder:
        parser.error("give a folder, or --smoke")
    records = load(HERE / "sample" if args.smoke else args.folder)
    if not records:
        parser.error("there are no records in that folder")
    rows = []
    print(f"{'reader':44s} {'format':20s} " + " ".join(f"{column:>10s}" for column in COLUMNS))
    for reader in readers(only_ours=args.smoke):
        for form in reader.forms:
            chosen = [record for record in records if record["format"] == form]
            groups = collections.defaultdict(list)
            errors = []
            began = time.process_time()
            for record in chosen:
                result, said = outcome(reader, record)
                groups["", ""].append(result)
                if args.by:
                    groups[args.by, str(record.get(args.by))].append(result)
                if result in (
                    "wrong",
                    "rejected",
                    "mal:wrong",
                    "mal:rejected",
                    "mal:invented",
                    "mal:passed",
                ):
                    errors.append((result, record, said))
            for (field, value), results in groups.items():
                row = {"reader": reader.name, "format": form, field: value, **rates(results)}
                row["ms"] = 1000 * (time.process_time() - began) / len(chosen)
                rows.append(row)
                label = reader.name if not field else f"    {value}"
                shown = " ".join(f"{row[column]:>10s}" for column in COLUMNS)
                print(f"{label[:44]:44s} {form:20s} {shown}")
            for result, record, said in errors[: args.errors]:
                print(f"    {result}: {record['llm_output'][-160:]!r}")
                print(f"        label {record['label']}\n        read {said}")
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    if args.smoke and any(
        row["silent"] != "0" or row["agree"] not in ("100.0%", "-") for row in rows
    ):
        sys.exit("The sample is no longer read as it was meant.")


if __name__ == "__main__":
    main()
