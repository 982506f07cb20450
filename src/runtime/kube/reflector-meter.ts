import type { Clock } from "../../domain/clock.ts";
import type { Metrics } from "../../telemetry/metrics.ts";

export type ReflectorFailure = "list" | "watch" | "projection" | "handler";

export interface ReflectorMeter {
  event(kind: string): void;
  relist(): void;
  failure(kind: ReflectorFailure): void;
  /** The server has just answered, so what we have is not older than this; `objects` is how many we have. */
  contact(objects: number): void;
  /** The reflector has ended and counts no longer. */
  end(): void;
}

interface Contact {
  readonly cluster: string;
  readonly resource: string;
  readonly objects: number;
  readonly atMs: number;
}

/** What each reflector said last. Several of one cluster and kind share a line of the metrics, so the lines are made of all of them. */
type Contacts = Map<object, Contact>;

const NAMES = ["cluster", "resource"] as const;
const contactsOf = new WeakMap<Metrics, Contacts>();

/**
 * Metrics of one reflector. Staleness is exported as the time of the last contact: subtracting it from now is the reader's part, and goes
 * on being right when this process hangs. Of several reflectors of a cluster and kind the one that has heard nothing for longest counts, and
 * their objects are added up.
 */
export function createReflectorMeter(
  metrics: Metrics,
  options: { readonly cluster: string; readonly resource: string; readonly clock: Clock },
): ReflectorMeter {
  const { cluster, resource, clock } = options;
  const labels = { cluster, resource };
  const events = metrics.counter("argosy_kube_reflector_events_total", "Events received in watches", [...NAMES, "kind"]);
  const relists = metrics.counter("argosy_kube_reflector_relists_total", "Complete lists read, the first one included", NAMES);
  const failures = metrics.counter(
    "argosy_kube_reflector_failures_total",
    "Lists and watches that broke, and objects whose projection or handler threw",
    [...NAMES, "kind"],
  );
  const contacts = contactsOf.get(metrics) ?? exportContacts(metrics);
  const self = {};
  return {
    event: (kind) => events.add(1, { ...labels, kind }),
    relist: () => relists.add(1, labels),
    failure: (kind) => failures.add(1, { ...labels, kind }),
    contact: (objects) => void contacts.set(self, { ...labels, objects, atMs: clock.now() }),
    end: () => void contacts.delete(self),
  };
}

function exportContacts(metrics: Metrics): Contacts {
  const contacts: Contacts = new Map();
  contactsOf.set(metrics, contacts);
  const collect = (figureOf: (of: readonly Contact[]) => number) => () =>
    [...Map.groupBy(contacts.values(), ({ cluster, resource }) => `${cluster}|${resource}`).values()].flatMap((of) =>
      of.slice(0, 1).map(({ cluster, resource }) => ({ value: figureOf(of), labels: { cluster, resource } })),
    );
  metrics
    .gauge("argosy_kube_reflector_objects", "Objects kept", NAMES)
    .collect(collect((of) => of.reduce((sum, { objects }) => sum + objects, 0)));
  metrics
    .gauge(
      "argosy_kube_reflector_last_contact_timestamp_seconds",
      "When the server last said something about these objects; of several watches of one kind, the one that has been silent for longest",
      NAMES,
    )
    .collect(collect((of) => of.reduce((oldest, { atMs }) => Math.min(oldest, atMs), Number.POSITIVE_INFINITY) / 1_000));
  return contacts;
}
