import { readFileSync } from "node:fs";
import process from "node:process";
import { parseArgs } from "node:util";
import { readProject } from "./checks/project.ts";
import { type Measures, measureCode } from "./measure/measure-code.ts";
import { renderMeasures } from "./measure/render-measures.ts";

const USAGE = `npm run measure -- [--before <file>] [-o json]
Measures what a reader of src/ meets: how many files, how long, how deep, in whose words. -o json has the lists behind the figures;
kept in a file, it is what --before compares with.
`;

const { values } = parseArgs({
  options: {
    before: { type: "string" },
    output: { type: "string", short: "o", default: "table" },
    help: { type: "boolean", short: "h", default: false },
  },
});

if (values.help) {
  process.stdout.write(USAGE);
} else if (values.output !== "json" && values.output !== "table") {
  process.stderr.write(`-o ${values.output}: it is json or table\n${USAGE}`);
  process.exitCode = 2;
} else {
  const measures = measureCode(readProject(process.cwd()));
  const before = values.before === undefined ? undefined : (JSON.parse(readFileSync(values.before, "utf8")) as Measures);
  process.stdout.write(`${values.output === "json" ? JSON.stringify(measures, undefined, 2) : renderMeasures(measures, before)}\n`);
}
