import { type Millis, millis } from "../../domain/clock.ts";

/** Comparisons that an instance's processors carry out in a second at most: 2 cores, 100 ms each. */
const COMPARISONS_PER_S = 20;
const CPU_S = 0.1;
/** How long a comparison takes if it runs alone, in s. Workers share the processors, so it takes longer the more of them are busy. */
export const ALONE_S = 0.02;
const WORKERS = 20;
/** How many applications there are. One that waits is not queued once more: the more of them wait, the fewer come. */
const APPLICATIONS = 2_000;
/** The model's step, in ms. */
const STEP_MS = 1_000;
/** Calls for one comparison: as many as cost the 100 ms of a comparison by the weights before the first fit, 3 ms each. */
const KUBERNETES_CALLS = 33;
const QUEUE = 'name="app_reconciliation_queue"';
/** Largest share of busy workers that the formula for the time of a comparison is used for. */
const BUSIEST = 0.95;

/** By unit, how many comparisons a second it asks for. */
export type QueueDemand = ReadonlyMap<string, number>;

/** An instance's comparisons as one queue with its workers. */
export interface QueueModel {
  pass(until: Millis, demand: QueueDemand): void;
  /** How long a comparison that is asked for now waits, in s. */
  waitS(): number;
  /** The metrics page of its controller. */
  page(): AsyncIterable<string>;
}

/** An idle instance whose controller started at `began`; its queue is empty until `now`. */
export function createQueueModel(began: Millis, now: Millis): QueueModel {
  const done = new Map<string, number>();
  const sums = { reconciles: 0, reconcileS: 0, waitS: 0, within10: 0 };
  let [at, waiting] = [now, 0];
  const waitS = (): number => waiting / COMPARISONS_PER_S;

  const step = (seconds: number, demand: QueueDemand): void => {
    const asked = [...demand.values()].reduce((sum, perS) => sum + perS, 0);
    const come = asked * seconds * (1 - waiting / APPLICATIONS);
    const most = COMPARISONS_PER_S * seconds;
    const compared = Math.min(most, waiting + come);
    const wait = waitS();
    const lasts = compared >= most ? WORKERS / COMPARISONS_PER_S : ALONE_S / (1 - Math.min(BUSIEST, compared / most));
    if (asked > 0) for (const [unit, perS] of demand) done.set(unit, (done.get(unit) ?? 0) + (compared * perS) / asked);
    waiting += come - compared;
    sums.reconciles += compared;
    sums.reconcileS += compared * lasts;
    sums.waitS += compared * wait;
    sums.within10 += wait <= 10 ? compared : 0;
  };
  return {
    pass(until, demand) {
      while (at < until) {
        const ms = Math.min(STEP_MS, until - at);
        step(ms / 1_000, demand);
        at = millis(at + ms);
      }
    },
    waitS,
    async *page() {
      const { reconciles } = sums;
      yield `process_start_time_seconds ${began / 1_000}`;
      yield `process_cpu_seconds_total ${reconciles * CPU_S}`;
      yield `argocd_app_info ${APPLICATIONS}`;
      yield `argocd_app_reconcile_count{dest_server="own"} ${reconciles}`;
      yield `argocd_app_reconcile_sum{dest_server="own"} ${sums.reconcileS}`;
      yield `argocd_app_reconcile_bucket{dest_server="own",le="16"} ${reconciles}`;
      yield `workqueue_depth{${QUEUE}} ${Math.floor(waiting)}`;
      yield `workqueue_queue_duration_seconds_count{${QUEUE}} ${reconciles}`;
      yield `workqueue_queue_duration_seconds_sum{${QUEUE}} ${sums.waitS}`;
      yield `workqueue_queue_duration_seconds_bucket{${QUEUE},le="10"} ${sums.within10}`;
      yield `argocd_redis_request_total{failed="false"} ${2 * reconciles}`;
      for (const [unit, count] of done) yield `argocd_app_k8s_request_total{project="${unit}"} ${KUBERNETES_CALLS * count}`;
    },
  };
}
