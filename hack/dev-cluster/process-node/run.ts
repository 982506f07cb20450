import { randomUUID } from "node:crypto";
import { residentBytes } from "../processes/proc.ts";
import { type DevProcess, stopProcess } from "../processes/process.ts";
import { type CpuShare, throttle } from "./cpu-share.ts";
import { startForwarder } from "./forwarder.ts";
import type { PortForward } from "./programs/launch.ts";

/** One run of a container, with or without a process. */
export interface Run {
  readonly id: string;
  readonly pid: number | undefined;
  /** Exit code. */
  readonly ended: Promise<number>;
  /** Asks it to end, and kills it after `graceMs`. */
  stop(graceMs: number): void;
  kill(): void;
  /** Memory in use, in bytes. */
  memory(): number | undefined;
  /** Share of the time it may run, from 0 to 1. */
  share(share: CpuShare): void;
  /** Forgets it without ending it. */
  detach(): Promise<void>;
}

/** A run with a process, started or found. Its forwarders exist as long as it does. */
export function processRun(process: DevProcess, podIP: string, forwards: readonly PortForward[]): Run {
  const forwarders = forwards.map(({ port, to }) => startForwarder({ host: podIP, port }, () => ({ host: "127.0.0.1", port: to })));
  const throttled = throttle(process);
  const detach = async () => {
    throttled.stop();
    await Promise.all(forwarders.map((forwarder) => forwarder.close()));
  };
  const endWithForwarders = async () => {
    const end = await process.ended;
    await detach();
    return end;
  };
  const ended = endWithForwarders();
  return {
    id: `process://${process.pid}`,
    pid: process.pid,
    ended,
    stop(graceMs) {
      throttled.stop();
      void stopProcess(process, graceMs);
    },
    kill: () => process.signal("SIGKILL"),
    memory: () => residentBytes(process.pid),
    share: (share) => throttled.set(share),
    detach,
  };
}

/** A run without a process: ends after `runMs` with `exitCode`, or, if `runMs` is undefined, when it is stopped. */
export function pretendRun(plan: { readonly runMs: number | undefined; readonly exitCode: number }): Run {
  let end = (_code: number): void => undefined;
  const ended = new Promise<number>((resolve) => {
    end = resolve;
  });
  const timer = plan.runMs === undefined ? undefined : setTimeout(() => end(plan.exitCode), plan.runMs);
  const finish = (code: number) => {
    clearTimeout(timer);
    end(code);
  };
  const detach = () => Promise.resolve(clearTimeout(timer));
  return {
    id: `pretend://${randomUUID()}`,
    pid: undefined,
    ended,
    stop: () => finish(0),
    kill: () => finish(137),
    memory: () => undefined,
    share: () => undefined,
    detach,
  };
}
