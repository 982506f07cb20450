import { request } from "node:http";
import { request as secureRequest } from "node:https";
import { connect } from "node:net";
import type { Container, Probe } from "./pod.ts";

/**
 * Probes a container once. Commands inside a container (`exec`) cannot be run here and count as a success.
 * Certificates are not verified, as in a kubelet. Any answer from 200 to 399 is a success.
 */
export async function probeOnce(probe: Probe, container: Container, podIP: string): Promise<boolean> {
  const timeoutMs = (probe.timeoutSeconds ?? 1) * 1000;
  const port = portOf(probe.httpGet?.port ?? probe.tcpSocket?.port ?? probe.grpc?.port, container);
  if (probe.exec !== undefined || port === undefined) return probe.exec !== undefined;
  return probe.httpGet === undefined
    ? await tcpAnswers(podIP, port, timeoutMs)
    : await httpAnswers({ probe: probe.httpGet, host: podIP, port, timeoutMs });
}

/** A port by number or by the name the container gives it. */
export function portOf(port: number | string | undefined, container: Container): number | undefined {
  if (typeof port === "number" || port === undefined) return port;
  return container.ports?.find(({ name }) => name === port)?.containerPort ?? (/^\d+$/.test(port) ? Number(port) : undefined);
}

function httpAnswers(ask: {
  readonly probe: NonNullable<Probe["httpGet"]>;
  readonly host: string;
  readonly port: number;
  readonly timeoutMs: number;
}): Promise<boolean> {
  const headers = Object.fromEntries((ask.probe.httpHeaders ?? []).map(({ name, value }) => [name, value]));
  const options = {
    host: ask.host,
    port: ask.port,
    path: ask.probe.path ?? "/",
    headers,
    agent: false,
    signal: AbortSignal.timeout(ask.timeoutMs),
  };
  return new Promise((resolve) => {
    const asked = ask.probe.scheme === "HTTPS" ? secureRequest({ ...options, rejectUnauthorized: false }) : request(options);
    asked.once("error", () => resolve(false));
    asked.once("response", (response) => {
      response.resume();
      response.on("error", () => undefined);
      resolve(response.statusCode !== undefined && response.statusCode >= 200 && response.statusCode < 400);
    });
    asked.end();
  });
}

function tcpAnswers(host: string, port: number, timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const done = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(timeoutMs, () => done(false));
    socket.once("connect", () => done(true));
    socket.once("error", () => done(false));
  });
}
