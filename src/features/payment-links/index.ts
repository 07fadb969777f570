export { makePaymentLinkService, type PaymentLinkService } from "./service.ts";
