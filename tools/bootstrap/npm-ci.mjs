import { spawn } from "node:child_process";
import { once } from "node:events";
import { NotReady } from "./project.mjs";

const UNREACHABLE = /\b(ENOTFOUND|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EAI_AGAIN|ERR_SOCKET_TIMEOUT|EHOSTUNREACH|ENETUNREACH)\b/;
/** npm gives the reason first and ends with a page about its own options. */
const LINES_OF_REASON = 8;

/**
 * Runs `npm ci` in a directory and says on standard error that it does, so that the output of what runs afterwards stays clean.
 * Dependencies of the kind `include` are installed whatever NODE_ENV or npm's configuration say.
 */
export async function npmCi({ what, directory, include, env }) {
  const startedAt = performance.now();
  const seconds = () => Math.round((performance.now() - startedAt) / 1000);
  const say = (text, end = "\n") => process.stderr.write(`argosy: ${text}${end}`);
  say(`installing ${what} …`);
  const child = spawn("npm", ["ci", `--include=${include}`, "--no-progress"], { cwd: directory, env, stdio: ["ignore", "pipe", "pipe"] });
  const output = collect(child);
  const ticking = process.stderr.isTTY ? setInterval(() => say(`${seconds()} s`, "\r"), 1000) : undefined;
  try {
    const [code] = await once(child, "close");
    if (code !== 0) throw new NotReady(reason(what, directory, output()));
  } catch (error) {
    if (error.code === "ENOENT") throw new NotReady("npm was not found in PATH: install it together with Node.js and try again");
    throw error;
  } finally {
    clearInterval(ticking);
  }
  say(`installed in ${seconds()} s`);
}

function collect(child) {
  const chunks = [];
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => chunks.push(chunk));
  return () => Buffer.concat(chunks).toString("utf8");
}

function reason(what, directory, output) {
  const [code] = UNREACHABLE.exec(output) ?? [];
  if (code !== undefined) {
    return `installing ${what} failed because the package registry cannot be reached (${code}): see \`npm config get registry\` and your proxy, then try again`;
  }
  const lines = output.split("\n").filter((line) => /^npm error \S/.test(line));
  return `installing ${what} failed: \`npm ci\` in ${directory} said\n${lines.slice(0, LINES_OF_REASON).join("\n")}`;
}
