import { expect } from "chai";
import { openApiDocument } from "../../src/http/document/openapi.ts";
import { allOperations } from "../../src/features/index.ts";
import { undescribed, withoutExample, type Documented } from "./undescribed.ts";

describe("descriptions in the OpenAPI document", () => {
  it("describe every field of every record, every parameter and every operation", () => {
    const document = openApiDocument(allOperations, "0.0.0") as unknown as Documented;
    expect(undescribed(document)).to.deep.equal([]);
    const invoice = document.components.schemas["Invoice"]?.properties;
    expect(invoice?.["createdAt"]?.description).to.contain("UTC");
    // A record that extends another takes its descriptions.
    const { AdminPayment, Payment } = document.components.schemas;
    expect(AdminPayment?.properties?.["amount"]).to.deep.equal(Payment?.properties?.["amount"]);
  });

  it("are missed by the name of the field, parameter or operation that lacks one", () => {
    const nested = { description: "Described.", items: { properties: { code: {} } } };
    const document: Documented = {
      paths: {
        "/invoices": {
          get: { operationId: "listInvoices", summary: "List", parameters: [{ name: "status" }] },
        },
      },
      components: {
        schemas: {
          Invoice: { properties: { amount: {}, status: { description: " " }, errors: nested } },
        },
      },
    };
    expect(undescribed(document)).to.deep.equal([
      ...["Invoice.amount", "Invoice.status", "Invoice.errors[].code"],
      ...["listInvoices", "listInvoices?status"],
    ]);
  });
});

describe("examples in the OpenAPI document", () => {
  const document = openApiDocument(allOperations, "0.0.0") as unknown as Documented;

  it("are those of every request, of every answer with a body and of every event", () => {
    expect(withoutExample(document)).to.deep.equal([]);
    const { Invoice } = document.components.schemas;
    expect(Invoice?.properties?.["checkoutUrl"]).to.have.property("examples");
    expect(Invoice?.properties?.["status"]).not.to.have.property("examples");
  });

  it("are missed by the name of the operation and the body", () => {
    const body = (example?: unknown) => ({
      content: { "application/json": example === undefined ? {} : { example } },
    });
    const operation = { parameters: [], responses: { "201": body({}), "400": body() } };
    const missing: Documented = {
      paths: { "/a": { post: { ...operation, operationId: "createA", requestBody: body() } } },
      webhooks: {
        "a.b": { post: { operationId: "webhook.a.b", parameters: [], requestBody: body() } },
      },
      components: { schemas: {} },
    };
    expect(withoutExample(missing)).to.deep.equal(["createA request", "webhook.a.b request"]);
  });
});
