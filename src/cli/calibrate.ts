import type { CalibrationView } from "../api/routes/calibration.ts";
import { isForPrograms, type OutputFormat, renderOne } from "./output.ts";
import type { RestClient } from "./rest-client.ts";
import { cellText } from "./table.ts";

export interface CalibrateOptions {
  readonly apply?: boolean;
  readonly output: OutputFormat;
}

/** `argosy calibrate <instance>`: what it was seen to bear under load, and, with `--apply`, that as the capacity of its pool. */
export async function calibrateCommand(client: RestClient, name: string, { apply = false, output }: CalibrateOptions): Promise<string> {
  const path = `/v1/instances/${encodeURIComponent(name)}/calibration`;
  const view = apply ? await client.post<CalibrationView>(path, {}) : await client.get<CalibrationView>(path);
  return isForPrograms(output) ? renderOne(view, output) : textOf(view).map(cellText).join("\n");
}

function textOf(view: CalibrationView): readonly string[] {
  const { instance, pool, from, until, applications, binding, readings, declared, fitted, doubts, applied } = view;
  const seen = from === null ? [] : [`samples of ${instance} from ${from} to ${until}, the last with ${applications} applications`];
  const dimensions = Object.keys(declared) as (keyof typeof declared)[];
  const amounts =
    fitted === null
      ? []
      : dimensions.map((dimension) => `  ${dimension}: ${fitted[dimension]}${same(fitted[dimension], declared[dimension])}`);
  const end = applied
    ? [`pool ${pool} is declared so; now write this capacity into fleet.yaml, or the next \`argosy apply -f\` takes it back`]
    : [...(doubts.length === 0 && fitted !== null ? [`--apply declares it for pool ${pool}`] : [])];
  return [
    ...seen,
    ...readings.map(readingText),
    ...(binding === null ? [] : [`${binding} are what is used up first; capacity would be`]),
    ...amounts,
    ...doubts.map((doubt) => `doubt: ${doubt}`),
    ...end,
  ];
}

function same(fitted: number, declared: number): string {
  return fitted === declared ? " as declared" : ` instead of ${declared}`;
}

function readingText({
  bound,
  observations,
  fewest,
  most,
  highest,
  limit,
  base,
  perApplication,
  fit,
  bears,
}: CalibrationView["readings"][number]): string {
  const percent = (share: number): string => `${Math.round(share * 1000) / 10} %`;
  const line = `${percent(base)} and ${percent(perApplication * 100)} for each hundred applications`;
  const how = fit === null ? "the load did not vary" : `explains ${percent(fit)} of what varied`;
  return `${bound}: ${observations} samples with ${fewest} to ${most} applications, ${percent(highest)} at most; ${line} (${how}); ${bears} until ${percent(limit)}`;
}
