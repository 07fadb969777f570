/** An operation of the seed document: its group and purpose in the seed's words, its method where the seed gives one. */
export interface CatalogueRow {
  readonly group: string;
  readonly purpose: string;
  readonly method: "GET" | "POST" | "PATCH" | "PUT" | null;
  readonly id: string;
}

/** The areas of section 1, in its order. */
export const groups = [
  ...["Auth", "Organizations", "Users", "API Keys", "Customers", "Wallets", "Invoices", "Checkout"],
  ...["Payments", "Webhooks", "Usage", "Billing", "Analytics", "Audit Logs", "Admin"],
];

/** Sections 4.1 to 4.5, ordered by the groups of section 1. */
const written = `
Auth | Register a dashboard user and create their first organization | POST | register
Auth | Authenticate a dashboard user | POST | login
Auth | Rotate refresh token and issue a new access token | POST | refreshSession
Auth | Revoke a refresh token | POST | logout
Organizations | List organizations visible to the current user | GET | listOrganizations
Organizations | Create an organization | POST | createOrganization
Organizations | Get organization details | GET | getOrganization
Organizations | Update organization profile and KYB fields | PATCH | updateOrganization
Organizations | Submit organization KYB for admin review | POST | submitOrganizationKyb
Users | List organization members | GET | listMembers
API Keys | List API keys | GET | listApiKeys
API Keys | Create an API key and return the secret once | POST | createApiKey
API Keys | Revoke an API key | POST | revokeApiKey
Customers | List customers | GET | listCustomers
Customers | Create a customer | POST | createCustomer
Customers | Update a customer | PATCH | updateCustomer
Wallets | List receiving wallets | GET | listWallets
Wallets | Register a public receiving wallet | POST | createWallet
Wallets | Archive a receiving wallet | POST | archiveWallet
Invoices | List invoices | GET | listInvoices
Invoices | Create an invoice | POST | createInvoice
Invoices | Get an invoice | GET | getInvoice
Invoices | Update draft invoice fields | PATCH | updateInvoice
Invoices | Cancel an invoice | POST | cancelInvoice
Checkout | Get public checkout session | GET | getCheckoutSession
Checkout | Submit transaction hash manually | POST | submitCheckoutTransaction
Payments | List invoice payment allocations | - | listPayments
Webhooks | List endpoints | - | listWebhookEndpoints
Webhooks | Create endpoint | - | createWebhookEndpoint
Webhooks | Update endpoint | - | updateWebhookEndpoint
Webhooks | Disable endpoint | - | disableWebhookEndpoint
Webhooks | List deliveries | - | listWebhookDeliveries
Webhooks | Replay a delivery | - | replayWebhookDelivery
Usage | Get current usage summary | - | getUsage
Billing | List available subscription plans | GET | listPlans
Billing | Get active subscription | GET | getSubscription
Billing | Schedule a subscription plan change at period end | PATCH | changePlan
Billing | Select a subscription plan and start a trial | POST | selectPlan
Billing | List platform invoices | GET | listPlatformInvoices
Billing | Get a platform invoice | GET | getPlatformInvoice
Analytics | Merchant summary | - | getMerchantAnalyticsSummary
Analytics | Merchant chart data | - | getMerchantAnalyticsCharts
Analytics | Top customers | - | listTopCustomers
Analytics | Top wallets | - | listTopWallets
Audit Logs | List | - | listAuditLogs
Admin | List organizations for admin review | GET | adminListOrganizations
Admin | Get organization detail for admin review | GET | adminGetOrganization
Admin | Approve, reject, or request changes for merchant verification | POST | adminUpdateOrganizationVerification
Admin | Get platform analytics summary | GET | adminGetAnalyticsSummary
Admin | Get platform analytics charts | GET | adminGetAnalyticsCharts
Admin | Get top merchants by processed volume for a period | GET | adminListTopOrganizations
Admin | List invoice payments across organizations | GET | adminListPayments
Admin | List audit logs across organizations | GET | adminListAuditLogs
Admin | Get platform billing receive-wallet configuration | GET | adminGetReceiveWallet
Admin | Assign the platform billing receive wallet | PUT | adminSetReceiveWallet
Admin | List wallets belonging to the platform organization | GET | adminListPlatformWallets
Admin | List platform invoices across organizations | GET | adminListPlatformInvoices
Admin | Get platform invoice detail with line items | GET | adminGetPlatformInvoice
Admin | List credits for an organization | GET | adminListCredits
Admin | Apply a billing credit to an organization | POST | adminApplyCredit
Admin | List discounts for an organization | GET | adminListDiscounts
Admin | Apply a billing discount to an organization | POST | adminApplyDiscount
Admin | List manual billing adjustments for an organization | GET | adminListManualAdjustments
Admin | Create a manual billing adjustment for an organization | POST | adminCreateManualAdjustment
Admin | List webhook deliveries across organizations | GET | adminListWebhookDeliveries
Admin | List recent failed jobs of a job queue (read-only) | GET | adminListFailedJobs
Admin | Get platform operations status | GET | adminGetOperationsStatus
`;

export const catalogue: readonly CatalogueRow[] = written
  .trim()
  .split("\n")
  .map((line) => {
    const [group = "", purpose = "", method = "", id = ""] = line.split(" | ");
    return { group, purpose, method: method === "-" ? null : (method as "GET"), id };
  });
