#!/usr/bin/env python3
"""Writes THIRD-PARTY.md: every crate that the binaries are built from, with its licence."""
import json
import subprocess
import sys

HEAD = """# Third-party software

Made by `make third-party` from the lock file; do not edit.

| crate | version | licence | source |
|---|---|---|---|
"""


def main():
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--all-features", "--filter-platform", "x86_64-unknown-linux-gnu"]
    metadata = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    packages = {p["id"]: p for p in metadata["packages"]}
    nodes = {n["id"]: n for n in metadata["resolve"]["nodes"]}
    # The tests are in no binary.
    members = [m for m in metadata["workspace_members"] if packages[m]["name"] != "tympan-tests"]
    seen, open_ids = set(), members
    while open_ids:
        package_id = open_ids.pop()
        if package_id in seen:
            continue
        seen.add(package_id)
        for dep in nodes[package_id]["deps"]:
            if any(kind["kind"] != "dev" for kind in dep["dep_kinds"]):
                open_ids.append(dep["pkg"])
    rows = []
    for package in sorted((packages[i] for i in seen), key=lambda p: (p["name"], p["version"])):
        if package["source"] is None:
            continue
        licence = package["license"] or f"see {package['license_file']}"
        rows.append(f"| {package['name']} | {package['version']} | {licence} | {package['repository'] or ''} |\n")
    with open("THIRD-PARTY.md", "w", encoding="utf-8") as out:
        out.write(HEAD + "".join(rows) + open("scripts/third_party_extra.md", encoding="utf-8").read())
    print(f"THIRD-PARTY.md: {len(rows)} crates", file=sys.stderr)


if __name__ == "__main__":
    main()
