import { describe, expect, it } from "vitest";
import { render, renderOne } from "./output.ts";
import type { Column } from "./table.ts";

interface Ship {
  readonly name: string;
  readonly masts: number | null;
}

const columns: readonly Column<Ship>[] = [
  { title: "NAME", value: (ship) => ship.name },
  { title: "MASTS", value: (ship) => ship.masts, isWide: true },
];
const ships: readonly Ship[] = [
  { name: "Argo", masts: 1 },
  { name: "Raft", masts: null },
];

describe("printing", () => {
  it("shows people the narrow columns unless they ask for wide ones", () => {
    expect(render(ships, columns, "table")).toBe("NAME\nArgo\nRaft");
    expect(render(ships, columns, "wide")).toBe("NAME  MASTS\nArgo  1\nRaft  -");
  });

  it("gives machines every field", () => {
    expect(JSON.parse(render(ships, columns, "json"))).toEqual(ships);
    expect(render(ships, columns, "yaml")).toBe("- name: Argo\n  masts: 1\n- name: Raft\n  masts: null");
  });

  it("prints an empty list as its head only", () => {
    expect(render([], columns, "table")).toBe("NAME");
    expect(render([], columns, "json")).toBe("[]");
  });

  it("keeps a row on its line and control characters out of the terminal", () => {
    const text = render([{ name: "a\nb\u001b[31mred\u009b2J\u202eevil", masts: 1 }], columns, "wide");
    expect(text).toBe("NAME              MASTS\na b [31mred 2J evil  1".replace("NAME              ", "NAME                 "));
  });

  it("prints a hundred thousand rows", () => {
    const many = Array.from({ length: 100_000 }, (_, index) => ({ name: `ship-${index}`, masts: index }));
    expect(render(many, columns, "wide").split("\n")).toHaveLength(100_001);
  });

  it("prints one thing as YAML unless JSON is asked for", () => {
    expect(renderOne({ name: "Argo" }, "table")).toBe("name: Argo");
    expect(JSON.parse(renderOne({ name: "Argo" }, "json"))).toEqual({ name: "Argo" });
  });
});
