/** The words of the test panel, for developers. They are not translated. */
export const testWords = {
  panel: "Test panel",
  hint: "Simulate what payers and networks do. Nothing here has any value.",
  payer: "The payer",
  network: "The network",
  pay: "Pay",
  underpay: "Underpay",
  overpay: "Overpay",
  mine: "Mine",
  reorganize: "Lose payment",
  expire: "Expire",
  paid: "Paid. The payment will be in the next block.",
  underpaid: "Paid half. The payment will be in the next block.",
  overpaid: "Paid too much. The payment will be in the next block.",
  mined: "Mined a block.",
  reorganized:
    "Replaced the blocks from the newest payment of this invoice on. It and all later payments are gone.",
  noPayment:
    "No block that can be replaced has a payment of this invoice. Pay it, and let a block include the payment.",
  expired: "The deadline has passed.",
} as const;

/** The API's `paymentInstructions`, in the API's language. */
export const instructionWords = {
  sendExactly:
    "Send {amount} on {network} to {address}. Exactly {amount} must arrive: if you pay from an exchange, that is the amount which it shows as received after its fee.",
  /** Comes before `sendExactly` once a payment is not expected back. */
  lookFirst:
    "The network has taken a payment back. Look in your wallet before you pay again: while it shows that payment as sent or pending, wait, and contact {merchant} an hour after you sent it. If the payment failed there, pay again.",
  sendNothingNow: "The deadline has passed or is about to. Do not send anything now.",
  sendNothingConfirming:
    "The payment was detected and is being confirmed. Do not send anything else.",
  sendNothingReverted:
    "The network has taken the payment back. It normally returns within minutes. Do not send it again.",
  sendNothingInReview:
    "A payment was found, and {merchant} will decide whether to accept it. Do not send anything else.",
  sendNothingPaid: "The invoice is paid. Do not send anything else.",
  sendNothingExpired:
    "The invoice has expired. Do not send anything. If you have paid, your payment can still appear; contact {merchant} if it does not within an hour. If you have not, ask {merchant} for a new invoice.",
  /** Instead, after `refunded`. */
  sendNothingReturned:
    "The invoice has expired. Do not send anything; ask {merchant} for a new one.",
  sendNothingExpiredMoved:
    "The invoice has expired, and {merchant} has moved the payment that arrived for it to another invoice. Do not send anything to its address.",
  sendNothingExpiredPart:
    "The invoice has expired, and {arrived} has arrived for it. Do not send anything else; contact {merchant} about this money.",
  sendNothingGone:
    "The invoice has expired, and the network has taken its payment back. Do not send anything to its address. While your wallet shows that payment as sent or pending, wait, and contact {merchant} an hour after you sent it. If the payment failed there, ask {merchant} for a new invoice.",
  askForRefund:
    "The invoice can no longer be paid, and {arrived} has arrived for it. Do not send anything else. Ask for the refund on this payment's page, with an address of your own.",
  askForExcess:
    "The invoice is paid, and {excess} more has arrived than it needs. Do not send anything else. Ask for the refund of the rest on this payment's page, with an address of your own.",
  refundLater:
    "{owed} can be returned to you: it does not count for this invoice. Do not send anything. You can ask for the refund here in some minutes, when the network has made the payment final.",
  /** While what can be returned is not confirmed, of a paid invoice and of a part. */
  excessLater:
    "The invoice is paid, and more has arrived than it needs. Do not send anything else. You can ask for the rest on this payment's page in some minutes, when the network has confirmed it.",
  partLater:
    "The invoice can no longer be paid, and {arrived} has arrived for it. Do not send anything else. You can ask for the refund on this payment's page in some minutes, when the network has confirmed the payment.",
  /** Comes before the words about a refund that is under way. */
  isPaid: "The invoice is paid.",
  refundAsked:
    "A refund was requested, and {merchant} sends it to the address that was given. Do not send anything.",
  refundSent: "Your refund of {refund} is on its way. Do not send anything.",
  /** Comes before all others. */
  refunded: "{returned} was sent back.",
  /** Comes before the words about another request. */
  refundRejected: "{merchant} has rejected the last refund: “{reason}”.",
  leftToMerchant:
    "The invoice can no longer be paid, and money has arrived for it that only {merchant} can return. Do not send anything; contact {merchant} about this money.",
  sendNothingCanceled: "The invoice is canceled. Do not send anything.",
  sendNothingCanceledMoved:
    "The invoice is canceled, and {merchant} has moved the payment that arrived for it to another invoice. Do not send anything.",
  sendNothingCanceledPaid:
    "The invoice is canceled, and a payment has arrived, which {merchant} will review. Do not send anything else.",
} as const;
