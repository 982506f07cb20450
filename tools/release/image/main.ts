import process from "node:process";
import { parseArgs } from "node:util";
import { errorText } from "../../../src/cli/error-text.ts";
import { mirrorsOf } from "./apt.ts";
import { assemble } from "./assemble.ts";
import { ARCHITECTURES } from "./kept-files.ts";

// The program that the Containerfile runs.
const text = { type: "string", default: "" } as const;
const { values } = parseArgs({
  options: { architecture: text, project: text, node: text, work: text, root: text, mirror: text, "security-mirror": text },
});
const architecture = ARCHITECTURES.find((each) => each === values.architecture);
try {
  if (architecture === undefined) throw new Error(`--architecture ${values.architecture}: it is ${ARCHITECTURES.join(" or ")}`);
  const { project, node, work, root } = values;
  await assemble({
    ...{ architecture, project, node, work, root },
    mirrors: mirrorsOf(values.mirror, values["security-mirror"]),
  });
} catch (error) {
  process.stderr.write(`image: ${errorText(error)}\n`);
  process.exitCode = 1;
}
