import { readFileSync, writeFileSync } from "node:fs";
import type { Command, Option } from "commander";
import { describe, expect, it } from "vitest";
import { createProgram } from "./program.ts";

const { signal } = new AbortController();
const silent = { write: () => {}, note: () => {}, setExitCode: () => {}, interrupted: () => signal };
const program = createProgram({ env: {}, version: "0.0.0", ...silent });
const file = new URL("../../docs/cli.md", import.meta.url);
const START = "<!-- made from the program's own help -->";
const END = "<!-- end -->";

/** Options of nearly every command, listed once above the table. */
const SHARED = [
  ...["--output", "--state", "--url", "--token", "--token-file", "--insecure-plain-http"],
  ...["--certificate-authority", "--help"],
];

describe("docs/cli.md", () => {
  it("lists each command with its options as the program's help does", () => {
    const page = readFileSync(file, "utf8");
    const [before = "", rest = ""] = page.split(START);
    const [, after = ""] = rest.split(END);
    const expected = `${before}${START}\n${table()}\n${END}${after}`;
    if (process.env["ARGOSY_WRITE_GOLDEN"] !== undefined) writeFileSync(file, expected);
    expect(readFileSync(file, "utf8")).toBe(expected);
  });

  it("explains what it leaves out of the table", () => {
    const page = readFileSync(file, "utf8");
    for (const name of SHARED) expect(page.split(START)[0]).toContain(name);
  });
});

function leaves(command: Command, path: string): readonly { readonly usage: string; readonly command: Command }[] {
  const name = `${path} ${command.name()}`.trim();
  if (command.commands.length > 0) return command.commands.flatMap((child) => leaves(child, name));
  const args = command.registeredArguments.map((argument) => (argument.required ? `<${argument.name()}>` : `[${argument.name()}]`));
  return [{ usage: [name, ...args].join(" "), command }];
}

function table(): string {
  const rows = leaves(program, "")
    .toSorted((a, b) => (a.usage < b.usage ? -1 : 1))
    .map(
      ({ usage, command }) =>
        `| \`${usage}\` | ${command.description()} | ${command.options.filter(isOwn).map(optionText).join("<br>") || "–"} |`,
    );
  return ["| Command | Does | Options of its own |", "|---|---|---|", ...rows].join("\n");
}

function isOwn({ long }: Option): boolean {
  return long === undefined || long === null || !SHARED.includes(long);
}

function optionText({ flags, description, argChoices }: Option): string {
  return `\`${flags}\` ${description}${argChoices === undefined ? "" : `: ${argChoices.join(", ")}`}`;
}
