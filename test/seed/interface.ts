// The seed's opening paragraph, section 2's list of records, section 3's review of organizations, and section 9.
import { expect } from "chai";
import { legalFields, expectStatus, register } from "../support/app.ts";
import { catalogue } from "./catalogue.ts";
import { type, type Json } from "./fields.ts";
import type { Caller, World } from "./world.ts";

const named =
  `LoginRequest, RegisterRequest, AuthSession, RefreshSessionRequest, LogoutRequest, Organization,
OrganizationList, AdminOrganization, AdminReviewHistoryItem, AdminOrganizationDetail, AdminOrganizationList,
UpdateOrganizationVerificationRequest, MembershipList, ApiKeyList, ApiKey, CreatedApiKey, Customer, CustomerList, Wallet,
WalletList, CreateInvoiceRequest, Invoice, InvoiceStatus, InvoiceList, CheckoutSession, PaymentList, WebhookEndpoint,
CreatedWebhookEndpoint, CreateWebhookEndpointRequest, UpdateWebhookEndpointRequest, WebhookEndpointList, WebhookDelivery,
WebhookDeliveryList, UsageSummary, Subscription, SubscriptionOpenInvoice, ChangePlanRequest, SelectPlanRequest,
PlanCatalog, Plan, PlatformInvoice, PlatformInvoiceList, AdminPlatformInvoice, AdminPlatformInvoiceLine,
AdminPlatformInvoiceDetail, AdminPlatformInvoiceList, ApplyAdminCreditRequest, AdminCredit, AdminCreditList,
ApplyAdminDiscountRequest, AdminDiscount, AdminDiscountList, CreateAdminManualAdjustmentRequest, AdminManualAdjustment,
AdminManualAdjustmentList, AnalyticsSummary, MerchantAnalyticsSummary, MerchantAnalyticsCharts,
MerchantVolumeSeriesPoint, MerchantInvoiceStatusBreakdownItem, TopCustomerList, TopWalletList, TopCustomer, TopWallet,
TopOrganizationList, TopOrganization, AdminPaymentList, AdminPayment, AdminWebhookDeliveryList, AdminWebhookDelivery,
AdminFailedQueueJobList, AdminFailedQueueJob, PlatformAnalyticsSummary, PlatformAnalyticsCharts, AdminOperationsStatus,
OperationsProviderHealth, OperationsQueueDepth, OperationsWebhookBacklog, AuditLogList, AuditLog`.split(
    /,\s+/,
  );

export function interfaceTests(world: () => World): void {
  describe("the interface", () => {
    let document: Json;
    before(async () => {
      document = (await world().estate.app.request("GET", "/v1/openapi.json")).body;
    });

    it("§2 names the records of the interface, each with a schema of its own", () => {
      const { schemas } = document["components"] as { schemas: Readonly<Record<string, Json>> };
      expect(named).to.have.lengthOf(80);
      expect(named.filter((name) => schemas[name] === undefined)).to.deep.equal([]);
    });

    it("§2 describes the values of infrastructure.checks as strings", () => {
      const { schemas } = document["components"] as { schemas: Readonly<Record<string, Json>> };
      const { checks } = type.object(schemas["OperationsInfrastructure"]?.["properties"]);
      expect(type.object(type.object(checks)["additionalProperties"])["type"]).to.equal("string");
    });

    it("§9 carries its version in the path prefix v1, and has no operation outside it", async () => {
      const paths = Object.keys(type.object(document["paths"]));
      const [server] = (document["servers"] ?? []) as readonly { readonly url: string }[];
      for (const path of paths) expect((server?.url ?? "") + path, path).to.match(/(^|\/)v1\//);
      const shop = await world().merchant();
      expect((await shop.ask("GET", "/billing/plans")).status).to.equal(200);
      const { app } = world().estate;
      for (const prefix of ["", "/v2"]) {
        const answer = await app.request("GET", `${prefix}/billing/plans`, { key: shop.key });
        expect(answer.status, prefix).to.equal(404);
      }
    });

    it("all bodies are JSON: a body of another type is refused, and each operation of the catalogue declares JSON", async () => {
      const paths = type.object(document["paths"]);
      const operations = Object.values(paths).flatMap((path) => Object.values(type.object(path)));
      for (const { id } of catalogue) {
        const operation = operations.map(type.object).find(({ operationId }) => operationId === id);
        const responses = Object.values(type.object(operation?.["responses"]));
        const bodies = [operation?.["requestBody"], ...responses].flatMap((each) =>
          Object.keys(((each ?? {}) as { content?: object }).content ?? {}),
        );
        for (const media of bodies) expect(media, id).to.match(/^application\/(problem\+)?json$/);
      }
      const shop = await world().merchant();
      const answer = await world().estate.app.request("POST", `${shop.path}/customers`, {
        key: shop.key,
        raw: "name=Customer",
        headers: { "Content-Type": "application/x-www-form-urlencoded" },
      });
      expect(answer.status).to.equal(415);
    });
  });

  describe("an organization's KYB", () => {
    for (const [decision, verificationStatus] of [
      ["approve", "approved"],
      ["reject", "rejected"],
      ["request_changes", "changes_requested"],
    ] as const) {
      it(`§3 is submitted for review, and an admin can ${decision.replace("_", " ")}`, async () => {
        const admin = await world().admin();
        const person = await register(world().estate.app);
        const applicant: Caller = await world().callerOf(person, "read", "write");
        await expectStatus(applicant.home("PATCH", "", legalFields), 200);
        const submitted = await expectStatus(applicant.home("POST", "/kyb/submit"), 200);
        expect(submitted.body).to.include({ verificationStatus: "pending_review" });
        const path = `/admin/organizations/${person.organizationId}`;
        const decided = await expectStatus(
          admin.ask("POST", `${path}/verification`, { decision, note: "Seen" }),
          200,
        );
        expect(decided.body).to.include({ verificationStatus });
        expect((await applicant.home("GET", "")).body).to.include({ verificationStatus });
        const history = type.array((await admin.ask("GET", path)).body["reviewHistory"]);
        expect(history.map((item) => type.object(item)["decision"])).to.have.members([
          "submitted",
          decision,
        ]);
      });
    }
  });
}
