import { TEST } from "../core-files.ts";
import type { OwnCheck } from "./own-check.ts";
import type { ProjectFile } from "./project.ts";

const test = new RegExp(TEST);
/** Enough for a reason; an empty comment is none. */
const REASON = /^(?:\/\/|\/\*)\s*\S.{15,}/;

/** Keeps files readable in one sitting: 250 lines, controllers 120, tests 500, unless the first line says why not. */
export const fileSizes: OwnCheck = {
  name: "file sizes",
  mend: "split the file, or say why it is better in one piece in a comment on its first line",
  find(project) {
    const long = project.files.filter((file) => /\.(?:ts|mjs)$/.test(file.path) && lines(file) > limit(file.path));
    const [excused, unexcused] = [long.filter(hasReason), long.filter((file) => !hasReason(file))];
    const tell = (file: ProjectFile): string => `${file.path} has ${lines(file)} lines, ${limit(file.path)} are allowed`;
    return { problems: unexcused.map(tell), notes: excused.map((file) => `${tell(file)}: ${file.text.split("\n")[0]}`) };
  },
};

function limit(path: string): number {
  if (test.test(path)) return 500;
  return path.endsWith("/controller.ts") ? 120 : 250;
}

function lines(file: ProjectFile): number {
  return file.text.trimEnd().split("\n").length;
}

function hasReason(file: ProjectFile): boolean {
  return REASON.test(file.text);
}
