import { existsSync, readFileSync, writeFileSync } from "node:fs";
import type { Log } from "../../../src/telemetry/log.ts";
import type { Addresses } from "./addresses.ts";
import { type Endpoint, type Forwarder, startForwarder } from "./forwarder.ts";
import { type NameServer, nameServerPort, startNameServer } from "./name-server.ts";
import type { Service, ServicePort } from "./pod.ts";
import type { ServiceName } from "./service-names.ts";

/** Gives each Service that a program uses a loopback address that leads to its ready pods. */
export interface ServiceForwarders {
  /** Address of an existing Service. It never changes, not even with a restart, because programs keep it in their arguments. */
  addressOf(name: ServiceName): string | undefined;
  /** `host:port` of the name server for pods of a namespace. */
  nameServer(namespace: string): string;
  /** To be called when a Service was created, changed or deleted. */
  changed(name: ServiceName): void;
  close(): Promise<void>;
}

export interface ServiceForwarderOptions {
  /** File with the addresses. */
  readonly file: string;
  readonly addresses: Addresses;
  readonly service: (name: ServiceName) => Service | undefined;
  /** Where the ready pods of a Service's port listen, in a stable order. */
  readonly targets: (service: Service, port: ServicePort) => readonly Endpoint[];
  readonly log: Log;
}

export function createServiceForwarders(options: ServiceForwarderOptions): ServiceForwarders {
  const remembered: Record<string, string> = existsSync(options.file)
    ? (JSON.parse(readFileSync(options.file, "utf8")) as Record<string, string>)
    : {};
  for (const address of Object.values(remembered)) options.addresses.keep(address);
  const open = new Map<string, { readonly port: number; readonly forwarder: Forwarder }[]>();
  let turn = 0;

  const pick = (name: ServiceName, port: number): Endpoint | undefined => {
    const service = options.service(name);
    const declared = service?.spec.ports?.find((candidate) => candidate.port === port);
    const targets = service === undefined || declared === undefined ? [] : options.targets(service, declared);
    return targets[turn++ % targets.length];
  };
  const update = (name: ServiceName) => {
    const key = keyOf(name);
    const address = remembered[key];
    if (address === undefined) return;
    const wanted = (options.service(name)?.spec.ports ?? []).filter((port) => (port.protocol ?? "TCP") === "TCP").map((port) => port.port);
    const kept = (open.get(key) ?? []).filter(({ port, forwarder }) => {
      if (!wanted.includes(port)) void forwarder.close();
      return wanted.includes(port);
    });
    const added = wanted
      .filter((port) => !kept.some((one) => one.port === port))
      .map((port) => ({ port, forwarder: startForwarder({ host: address, port }, () => pick(name, port)) }));
    for (const { port, forwarder } of added)
      void forwarder.ready.then((ready) => ready || options.log.error({ service: key, address, port }, "Listening for a Service failed"));
    open.set(key, [...kept, ...added]);
  };
  const remember = (key: string): string => {
    const address = remembered[key] ?? options.addresses.take();
    if (remembered[key] === undefined) writeFileSync(options.file, JSON.stringify({ ...remembered, [key]: address }));
    remembered[key] = address;
    return address;
  };
  const addressOf = (name: ServiceName) => {
    if (options.service(name) === undefined) return undefined;
    const isNew = remembered[keyOf(name)] === undefined;
    const address = remember(keyOf(name));
    if (isNew) update(name);
    return address;
  };
  const nameServers = new Map<string, NameServer>();
  const nameServer = (namespace: string) => {
    const address = remember(`${namespace}/`);
    if (!nameServers.has(namespace)) nameServers.set(namespace, startNameServer({ address, namespace, addressOf, log: options.log }));
    return `${address}:${nameServerPort}`;
  };
  for (const name of Object.keys(remembered).map(nameOf)) {
    if (name.name === "") nameServer(name.namespace);
    else update(name);
  }

  return {
    addressOf,
    nameServer,
    changed: update,
    async close() {
      const all = [...open.values()].flat();
      open.clear();
      await Promise.all([...all.map(({ forwarder }) => forwarder.close()), ...[...nameServers.values()].map((server) => server.close())]);
    },
  };
}

const keyOf = (name: ServiceName): string => `${name.namespace}/${name.name}`;

function nameOf(key: string): ServiceName {
  const [namespace = "", name = ""] = key.split("/");
  return { namespace, name };
}
