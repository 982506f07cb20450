/** Does something again and again until it is ended. If it throws, the end throws the same. */
export function again(everyMs: number, work: () => Promise<void>): { end(): Promise<void> } {
  let isOver = false;
  const run = async (): Promise<void> => {
    while (!isOver) {
      const began = performance.now();
      await work();
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, began + everyMs - performance.now())));
    }
  };
  const running = run();
  running.catch(() => undefined);
  return {
    end() {
      isOver = true;
      return running;
    },
  };
}
