import { expect } from "chai";
import { openApiDocument } from "../../../src/http/document/openapi.ts";
import { allOperations } from "../../../src/features/index.ts";
import { eventTypes } from "../../../src/platform/events/catalogue.ts";

describe("webhooks in the OpenAPI document", () => {
  it("have a request for every event type, whose data is the record of its object", () => {
    const { webhooks, components } = openApiDocument(allOperations, "0.0.0") as {
      webhooks: Readonly<Record<string, unknown>>;
      components: { schemas: Readonly<Record<string, unknown>> };
    };
    expect(Object.keys(webhooks)).to.deep.equal(eventTypes);
    const named = [...JSON.stringify(webhooks).matchAll(/#\/components\/schemas\/(\w+)/g)];
    for (const [, name = ""] of named) expect(components.schemas).to.have.property(name);
    const paid = JSON.stringify(webhooks["invoice.paid"]);
    expect(paid).to.contain('"const":"invoice.paid"').and.contain('"#/components/schemas/Invoice"');
  });
});
