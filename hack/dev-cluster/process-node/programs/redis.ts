import type { Launch, LaunchInput } from "./launch.ts";

/**
 * How a container of a redis image runs on this machine: with the same flags, on the pod's address. A leading
 * `redis-server` is the image's own command.
 */
export function launchRedis(input: LaunchInput): Launch {
  const words = input.words.filter((word) => !/(^|\/)(redis-server|docker-entrypoint\.sh)$/.test(word));
  return { program: "redis", args: [...words, "--bind", input.podIP], env: {}, folders: {}, forwards: [], connectsTo: [] };
}
