import { readdirSync, readFileSync } from "node:fs";
import { expect } from "chai";
import { openApiDocument } from "../../../src/http/document/openapi.ts";
import { allOperations } from "../../../src/features/index.ts";
import { breakingChanges, contractOf, notCalledOut, type Contract } from "./breaking-changes.ts";

interface Draft {
  [name: string]: Draft;
}

const document = contractOf(openApiDocument(allOperations, "0.0.0") as unknown as Contract);
const create = ["paths", "/organizations/{organizationId}/invoices", "post"];
const list = ["paths", "/organizations/{organizationId}/invoices", "get"];
const records = ["components", "schemas"];

/** Returns the breaks of a document in which one object is changed. */
function breaksOf(path: readonly string[], change: (place: Draft) => void): string[] {
  const changed = structuredClone(document) as unknown as Draft;
  const found = path.reduce<Draft | undefined>((at, name) => at?.[name], changed);
  if (found === undefined) throw new Error(`the document has no ${path.join(" ")}`);
  change(found);
  const breaks = breakingChanges(document, changed as unknown as Contract);
  return breaks.map(({ place, says }) => `${place} ${says}`);
}

const set = (name: string, value: unknown) => (place: Draft) => {
  place[name] = value as Draft;
};
const removing = (name: string) => (place: Draft) => {
  Reflect.deleteProperty(place, name);
};
const fieldOf = (record: string, field: string) => [...records, record, "properties", field];

describe("the check of compatibility", () => {
  it("finds no difference between a document and itself, and none to texts and examples", () => {
    expect(breakingChanges(document, document)).to.deep.equal([]);
    const whole = openApiDocument(allOperations, "0.0.0") as unknown as Contract;
    expect(breakingChanges(document, whole)).to.deep.equal([]);
    expect(JSON.stringify(document)).not.to.contain('"example');
  });

  it("keeps fields that are called as a part of the document that it leaves out", () => {
    const { Invoice } = document.components.schemas;
    expect(Invoice?.properties).to.have.property("description");
  });

  it("refuses a removed operation, another path and another credential", () => {
    expect(breaksOf(create.slice(0, 2), removing("post"))).to.deep.equal([
      "createInvoice is removed",
    ]);
    const moved = breaksOf(["paths"], (paths) => {
      paths["/organizations/{organizationId}/bills"] = paths[create[1] ?? ""] ?? {};
      Reflect.deleteProperty(paths, create[1] ?? "");
    });
    expect(moved).to.include("createInvoice is POST /organizations/{}/bills");
    const login = ["paths", "/auth/login", "post"];
    expect(breaksOf(login, set("security", [{}]))).to.deep.equal(["login needs a credential"]);
  });

  it("refuses a removed field of an answer, in all records that have it, and one that may be absent", () => {
    const properties = [...records, "Invoice", "properties"];
    expect(breaksOf(properties, removing("checkoutUrl"))).to.deep.equal([
      "Invoice.checkoutUrl is removed",
    ]);
    const invoice = [...records, "Invoice"];
    expect(breaksOf(invoice, set("required", []))).to.include("Invoice.status may be absent");
  });

  it("refuses a removed field and a new required field of a request", () => {
    const request = [...records, "CreateInvoiceRequest"];
    expect(breaksOf([...request, "properties"], removing("metadata"))).to.deep.equal([
      "CreateInvoiceRequest.metadata is removed",
    ]);
    const breaks = breaksOf(request, (schema) => {
      set("color", { type: "string" })(schema["properties"] ?? {});
      (schema["required"] as unknown as string[]).push("color");
    });
    expect(breaks).to.deep.equal(["CreateInvoiceRequest.color is required"]);
  });

  it("refuses fewer values, on both sides", () => {
    const status = [...records, "InvoiceStatus"];
    expect(breaksOf(status, set("enum", ["open", "paid"])).join()).to.contain(
      "InvoiceStatus no longer has the values draft, partially_paid",
    );
    const scopes = [...fieldOf("CreateApiKeyRequest", "scopes"), "items"];
    expect(breaksOf(scopes, set("enum", ["read"])).join()).to.contain(
      "CreateApiKeyRequest.scopes[] no longer has the values write",
    );
  });

  it("refuses another type, null in an answer, and no null in a request", () => {
    const amount = fieldOf("Invoice", "amount");
    const changed = breaksOf(amount, set("type", "number"));
    expect(changed).to.deep.equal(["Invoice.amount may be number"]);
    const nullable = set("anyOf", [{ type: "string" }, { type: "null" }]);
    expect(breaksOf(amount, nullable)).to.deep.equal(["Invoice.amount may be null"]);
    const name = fieldOf("UpdateCustomerRequest", "externalId");
    expect(breaksOf(name, set("anyOf", [{ type: "string" }]))).to.include(
      "UpdateCustomerRequest.externalId no longer accepts null",
    );
  });

  it("refuses tighter limits of a request, a removed and a required parameter", () => {
    const name = fieldOf("CreateCustomerRequest", "name");
    expect(breaksOf(name, set("maxLength", 3))).to.deep.equal([
      "CreateCustomerRequest.name has the maxLength 3",
    ]);
    expect(breaksOf(name, set("pattern", "^a"))).to.deep.equal([
      "CreateCustomerRequest.name must match another pattern",
    ]);
    const filtered = breaksOf(list, (operation) => {
      const parameters = operation["parameters"] as unknown as Record<string, unknown>[];
      const rest = parameters.filter((parameter) => parameter["name"] !== "search");
      const shop = { name: "shop", in: "query", required: true, schema: { type: "string" } };
      set("parameters", [...rest, shop])(operation);
    });
    expect(filtered).to.deep.equal([
      "listInvoices?search is removed",
      "listInvoices?shop is required",
    ]);
  });

  it("refuses a removed event, and a removed field of an event's data", () => {
    expect(breaksOf(["webhooks"], removing("invoice.paid"))).to.deep.equal([
      "invoice.paid is removed",
    ]);
    const data = [...records, "UsageThreshold", "properties"];
    const [first = ""] = Object.keys(
      document.components.schemas["UsageThreshold"]?.properties ?? {},
    );
    expect(breaksOf(data, removing(first))).to.deep.equal([`UsageThreshold.${first} is removed`]);
  });

  it("accepts new operations, fields, values, events and wider limits", () => {
    const breaks = [
      breaksOf(["paths"], set("/new", { get: { operationId: "getNew", responses: {} } })),
      breaksOf(["webhooks"], set("invoice.new", {})),
      breaksOf([...records, "Invoice", "properties"], set("color", { type: "string" })),
      breaksOf([...records, "CreateInvoiceRequest", "properties"], set("color", {})),
      breaksOf([...records, "InvoiceStatus", "enum"], (values) => {
        (values as unknown as string[]).push("lost");
      }),
      breaksOf(fieldOf("CreateCustomerRequest", "name"), set("maxLength", 10_000)),
    ];
    expect(breaks.flat()).to.deep.equal([]);
  });

  it("lets a break pass that the changelog calls out above the version that it breaks", () => {
    const breaks = [
      { place: "createInvoice", says: "is removed" },
      { place: "Invoice.amount", says: "may be null" },
    ];
    const heading = "### Changes that break clients";
    const called = `# Changelog\n\n## 0.2.0\n\n${heading}\n\n- \`createInvoice\` is gone.\n`;
    const other = "### Fixed\n\n- `Invoice.amount` is right.\n";
    const older = `## 0.1.0\n\n${heading}\n\n- \`Invoice.amount\` was a number.\n`;
    const text = `${called}\n${other}\n${older}`;
    expect(notCalledOut(breaks, text, "0.1.0")).to.deep.equal([breaks[1]]);
    expect(notCalledOut(breaks, text, "0.0.1")).to.deep.equal([]);
  });

  it("has the contract of the last release", () => {
    const releases = new URL("../../../docs/releases/", import.meta.url);
    const kept = readdirSync(releases);
    expect(kept).to.have.length(1);
    const text = readFileSync(new URL(`${String(kept[0])}/openapi.json`, releases), "utf8");
    const released = JSON.parse(text) as Contract;
    expect(released.paths).to.have.property("/organizations/{organizationId}/invoices");
    expect(contractOf(released)).to.deep.equal(released);
  });
});
