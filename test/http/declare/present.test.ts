import { expect } from "chai";
import { z } from "zod";
import { datetime, moneyText, presentRow } from "../../../src/http/declare/record.ts";

const Shown = z.object({
  id: z.string(),
  total: moneyText(),
  events: z.array(z.string()).meta({ description: "The events." }),
  createdAt: datetime(),
  endedAt: datetime().nullable(),
  attempts: z.int(),
});

const row = {
  secretHash: "never shown",
  attempts: 1_900_000_000_000,
  endedAt: null as number | null,
  createdAt: Date.UTC(2026, 0, 31),
  events: ["invoice.paid"] as readonly string[],
  total: 2_500n,
  id: "one",
};

describe("the presentation of a row as a record", () => {
  it("copies the record's fields in its order, formats its times and nothing else", () => {
    const shown = presentRow(Shown, row, { total: "25.00" });
    expect(JSON.stringify(shown)).to.equal(
      '{"id":"one","total":"25.00","events":["invoice.paid"],"createdAt":"2026-01-31T00:00:00.000Z","endedAt":null,"attempts":1900000000000}',
    );
    const ended = presentRow(Shown, { ...row, endedAt: row.createdAt }, { total: "25.00" });
    expect(ended.endedAt).to.equal("2026-01-31T00:00:00.000Z");
  });

  it("prefers a computed value to the row's", () => {
    const shown = presentRow(Shown, row, { total: "0", id: "two", endedAt: null });
    expect(shown).to.include({ id: "two", endedAt: null });
  });

  it("requires the fields that the row lacks or has in another form", () => {
    // @ts-expect-error -- an amount in units must be formatted
    presentRow(Shown, row);
    const { id: _id, ...rest } = row;
    // @ts-expect-error -- the row has no id
    presentRow(Shown, rest, { total: "1.00" });
    // @ts-expect-error -- null is not a time of creation
    presentRow(Shown, { ...row, createdAt: null }, { total: "1.00" });
    expect(presentRow(z.object({ id: z.string() }), row)).to.deep.equal({ id: "one" });
  });
});
