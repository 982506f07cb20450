const SCALE: Readonly<Record<string, number>> = {
  m: 0.001,
  "": 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
};

/** Shape of the quantities people may write: `500m`, `2`, `1.5`, `4Gi`. */
export const QUANTITY = /^(\d+(?:\.\d+)?)(m|k|M|G|T|Ki|Mi|Gi|Ti)?$/;

/** Amount of a Kubernetes quantity in its base unit (cores, bytes); `undefined` when it is none. */
export function parseQuantity(text: string): number | undefined {
  const [, digits, suffix = ""] = QUANTITY.exec(text) ?? [];
  const scale = SCALE[suffix];
  return digits === undefined || scale === undefined ? undefined : Number(digits) * scale;
}

/** Processor time in whole thousandths of a core, as Kubernetes writes it: `2` for two cores, `1500m`. */
export function renderCpu(cores: number): string {
  const milli = Math.round(cores * 1000);
  return milli % 1000 === 0 ? String(milli / 1000) : `${milli}m`;
}

/** Memory in the largest binary unit that divides it; fractions of a byte are rounded up. */
export function renderMemory(bytes: number): string {
  const whole = Math.ceil(bytes);
  for (const unit of ["Gi", "Mi", "Ki"]) {
    const size = SCALE[unit] ?? 1;
    if (whole >= size && whole % size === 0) return `${whole / size}${unit}`;
  }
  return String(whole);
}
