import process from "node:process";
import { errorText } from "../../src/cli/error-text.ts";
import { detach } from "./detach.ts";
import { parseUpOptions, UP_HELP } from "./options.ts";
import { openStateDirectory } from "./state-directory.ts";
import { supervise } from "./supervise.ts";

/** `npm run up`. Resolves with the exit code. */
async function main(args: readonly string[]): Promise<number> {
  const options = parseUpOptions(args);
  if (options.help) {
    process.stdout.write(UP_HELP);
    return 0;
  }
  const state = openStateDirectory(options.state);
  return options.detach ? detach(state, args) : supervise(options, state);
}

main(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error: unknown) => {
    process.stderr.write(`up: ${errorText(error)}\n`);
    process.exit(1);
  },
);
