/** Says on a line of its own what has begun, and how long it took. */
export type Progress = <T>(what: string, work: () => Promise<T>) => Promise<T>;

/** Lines like `release: packing the image for amd64 … 12 s`, one when a step begins and one when it has ended. */
export function createProgress(write: (line: string) => void): Progress {
  return async (what, work) => {
    const startedAt = performance.now();
    write(`${what} …`);
    const result = await work();
    write(`${what}: done in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`);
    return result;
  };
}
