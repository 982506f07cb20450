import type { DevProcess } from "../processes/process.ts";

/** Share of the time a process may run: 0 stopped, 1 unhindered. */
export type CpuShare = number;

/** Length of one turn, in ms: what the kernel's own CPU quota uses, so a slowed program stutters as it would in a container. */
const turnMs = 100;

/** Stops a process for the part of each turn that is not its share. Never touches one that has its full share. */
export function throttle(process: DevProcess): { set(share: CpuShare): void; stop(): void } {
  let share: CpuShare = 1;
  let timer: NodeJS.Timeout | undefined;

  const pause = () => {
    process.signal("SIGSTOP");
    timer = setTimeout(go, turnMs * (1 - share));
  };
  const go = () => {
    process.signal("SIGCONT");
    timer = setTimeout(pause, turnMs * share);
  };
  const release = () => {
    clearTimeout(timer);
    timer = undefined;
  };
  return {
    set(wanted) {
      if (wanted === share) return;
      share = wanted;
      release();
      if (share <= 0) process.signal("SIGSTOP");
      else if (share >= 1) process.signal("SIGCONT");
      else pause();
    },
    stop: release,
  };
}
