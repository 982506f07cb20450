/** One JSON line of the log as a line for people: `12:34:56.789 WARN  Backing off key=a/b afterMs=500`, stacks below it. */
export function prettyLine(json: string): string {
  const fields = JSON.parse(json) as Readonly<Record<string, unknown>>;
  const { time, level, message, err, ...rest } = fields;
  const pairs = Object.entries(rest).map(
    ([name, value]) => ` ${name}=${typeof value === "string" && !/[\s"]/.test(value) ? value : JSON.stringify(value)}`,
  );
  const head = `${String(time).slice(11, 23)} ${String(level).toUpperCase().padEnd(5)} ${String(message)}${pairs.join("")}`;
  return `${head}${err === undefined ? "" : errorText(err, "\n  ")}\n`;
}

function errorText(error: unknown, indent: string): string {
  if (error === null || typeof error !== "object") return `${indent}${String(error)}`;
  const { name, message, stack, cause, ...rest } = error as Readonly<Record<string, unknown>>;
  const text = typeof stack === "string" ? stack.replaceAll("\n", indent) : `${String(name)}: ${String(message)}`;
  const details = Object.keys(rest).length === 0 ? "" : `${indent}${JSON.stringify(rest)}`;
  return `${indent}${text}${details}${cause === undefined ? "" : `${indent}caused by:${errorText(cause, `${indent}  `)}`}`;
}
