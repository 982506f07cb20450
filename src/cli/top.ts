import type { InstanceTop, WorkspaceTop } from "../api/routes/loads.ts";
import { InputError } from "../domain/errors.ts";
import { age, timeText } from "./age.ts";
import { type OutputFormat, render } from "./output.ts";
import type { RestClient } from "./rest-client.ts";
import type { Column } from "./table.ts";

export interface TopOptions {
  readonly limit?: string;
  readonly output: OutputFormat;
}

export const topInstances: readonly Column<InstanceTop>[] = [
  { title: "NAME", value: (row) => row.name, fit: "name" },
  { title: "USED", value: (row) => percent(row.utilisation) },
  { title: "UNITS", value: (row) => row.units },
  { title: "APPS", value: (row) => `${row.load.applications}/${row.capacity.applications}` },
  { title: "MILLICPU", value: (row) => row.milliCpu },
  { title: "CACHED", value: (row) => row.cachedObjects },
  { title: "MEASURED", value: (row) => age(row.measuredAt) },
  { title: "STATE", value: (row) => row.state, isWide: true },
  { title: "ENTRIES", value: (row) => `${row.load.clusterEntries}/${row.capacity.clusterEntries}`, isWide: true },
  { title: "RESOURCES", value: (row) => `${row.load.cachedResources}/${row.capacity.cachedResources}`, isWide: true },
  { title: "CPU", value: (row) => `${row.load.milliCpu}/${row.capacity.milliCpu}`, isWide: true },
  { title: "GIT", value: (row) => `${row.load.gitPerMinute}/${row.capacity.gitPerMinute}`, isWide: true },
];

export const topWorkspaces: readonly Column<WorkspaceTop>[] = [
  { title: "WORKSPACE", value: (row) => (row.part === 0 ? row.workspace : `${row.workspace} (part ${row.part})`), fit: "name" },
  { title: "INSTANCE", value: (row) => row.instance, fit: "name" },
  { title: "SHARE", value: (row) => percent(row.share) },
  { title: "APPS", value: (row) => row.load.applications },
  { title: "MILLICPU", value: (row) => row.load.milliCpu },
  { title: "NOW", value: (row) => (row.recent === null ? null : Math.round(row.recent.milliCpu)) },
  { title: "RESOURCES", value: (row) => row.load.cachedResources },
  { title: "ENTRIES", value: (row) => row.load.clusterEntries, isWide: true },
  { title: "GIT", value: (row) => row.load.gitPerMinute, isWide: true },
  { title: "MEASURED", value: (row) => timeText(row.measuredAt), isWide: true },
];

/** `argosy top instances|workspaces`: who takes most, first. */
export async function top(client: RestClient, what: string, { limit, output }: TopOptions): Promise<string> {
  if (what !== "instances" && what !== "workspaces")
    throw new InputError(`there is no list of ${what} by load`, {
      code: "cli.resource",
      path: "resource",
      remedy: "Use instances or workspaces",
    });
  if (what === "instances" && limit !== undefined)
    throw new InputError("says nothing about instances", { code: "cli.option", path: "--limit", remedy: "Leave it out" });
  if (what === "instances") return render((await client.get<List<InstanceTop>>("/v1/top/instances")).items, topInstances, output);
  return render((await client.get<List<WorkspaceTop>>("/v1/top/workspaces", { limit })).items, topWorkspaces, output);
}

interface List<Row> {
  readonly items: readonly Row[];
}

function percent(share: number): string {
  return share > 0 && share < 0.01 ? "<1 %" : `${Math.round(share * 100)} %`;
}
