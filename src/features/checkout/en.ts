/**
 * Everything that a payer reads, in English. A word in braces is filled in. A further language is another object of
 * this shape beside it, listed in catalogue.ts.
 */
export const en = {
  lang: "en",
  dir: "ltr",

  // --- what is asked for ---
  payTitle: "Pay {amount} to {merchant}",
  stateTitle: "{headline} · {merchant}",
  payTo: "Payment to",
  amountToPay: "Amount to pay",
  stillToPay: "Still to pay",
  onNetwork: "on {network}",
  asks: "for {amount}",
  arrives:
    "The amount that arrives must be {amount}, with every decimal. If you pay from an exchange, add its fee on top.",
  onlyHere:
    "Send only {token} on {network}. Another token, or another network, does not arrive and may be lost.",
  ownCoin: "Your wallet also needs a little of {network}'s own coin for the network's fee.",
  addressOn: "Address on {network}",
  copyAmount: "Copy amount",
  copyAddress: "Copy address",
  copied: "Copied",
  amountCopied: "The amount is copied",
  addressCopied: "The address is copied",
  copyFailed: "Could not copy: select the text instead",
  openWallet: "Open in a wallet",
  scanAddress: "The address on {network}, without the amount: enter {amount} yourself.",
  scanAll: "Address, token and amount on {network}.",
  qrLabel: "QR code: pay {amount} on {network} to {address}",
  qrAddressLabel: "QR code: the address {address} on {network}",
  otherCode: "My wallet does not read this code",
  payBy: "Pay by",
  timeLeft: "{time} left",
  days: "{n} d",
  hours: "{n} h",
  minutes: "{n} min",
  seconds: "{n} s",
  minutesLeft: "{n} minutes left to pay",
  oneMinuteLeft: "1 minute left to pay",

  // --- the states ---
  awaitingHeadline: "Waiting for your payment",
  awaitingLead: "This page shows your payment as soon as the network has it.",
  partlyPaidHeadline: "A part has arrived",
  partlyPaidLead: "We received {received} of {payable}. Send the remaining {remaining} to finish.",
  confirmingHeadline: "Your payment is seen",
  confirmingLead:
    "The network is confirming it, which takes {wait}. You have nothing more to do and can close this page.",
  confirmationCount: "{current} of {required} confirmations",
  waitUnderMinute: "less than a minute",
  waitOneMinute: "about a minute",
  waitMinutes: "about {n} minutes",
  paidHeadline: "Paid",
  paidLead: "Thank you. {merchant} has your payment.",
  overpaidHeadline: "Paid, with too much",
  overpaidLead:
    "We received {received}, which is {excess} more than was asked. {merchant} has your payment.",
  overpaidAction: "To ask for the rest back, contact {merchant} and name the reference below.",
  paidLateHeadline: "Paid late",
  paidLateLead:
    "Your payment came after its time was over, and {merchant} has accepted it. You have nothing more to do.",
  lateHeadline: "Your payment came late",
  lateLead:
    "It came after its time was over, so {merchant} decides what happens with it. Do not send anything more.",
  expiredHeadline: "This payment has expired",
  expiredLead: "Do not send anything to its address now. Ask {merchant} for a new link.",
  expiredSent:
    "You have sent it already? It will still be found: keep this page, and if it does not show soon, contact {merchant} and name the reference below.",
  expiredPartlyHeadline: "Expired before all of it arrived",
  expiredPartlyLead:
    "We received {received} of {payable} before the time was over. Do not send the rest now.",
  canceledHeadline: "Canceled by the merchant",
  canceledLead: "{merchant} has canceled this payment. Do not send anything to its address.",
  canceledPaidHeadline: "Canceled, and a payment has arrived",
  canceledPaidLead:
    "Money arrived though {merchant} has canceled this payment. {merchant} looks at it and decides what happens with it. Do not send anything more.",
  cannotCheckHeadline: "We cannot check the network now",
  cannotCheckLead:
    "Your payment is safe: what was sent will be found as soon as {network} can be read again. Do not send it twice.",
  cannotCheckOpen: "You have not paid yet? You can: a payment counts by the time of its block.",
  cannotCheckOver:
    "You have not paid yet? Do not pay now: its time is over, or about to be. Look again in a minute.",
  cannotConfirmNow:
    "{network} cannot be read at the moment, so the count may be behind. Your payment is safe.",
  reverted:
    "The network has taken back a payment that was here before. What is shown now is what it holds.",
  inReview: "A payment was found that {merchant} has yet to accept. Do not send it again.",
  contact: "Contact {merchant} and name the reference below.",
  lastChecked: "Last checked",
  never: "Not yet",

  // --- a payment that does not show ---
  hashQuestion: "Sent it, and it does not show here?",
  hashLead:
    "Paste the hash of your transaction, or the explorer's link to it. We look it up on {network}.",
  hashLabel: "Transaction hash or link",
  hashSend: "Look for it",
  hashReceived:
    "Thank you. We look your transaction up on the network; this page shows it when it is found to be for this payment. Do not send it twice.",
  hashMalformed:
    "That is no transaction hash. It has 64 digits and letters from a to f, with or without 0x before them. Copy it from your wallet or exchange and paste it again.",
  hashTooMany:
    "We are still looking at the transactions that were sent here. Wait until they are decided, or contact the merchant.",

  hashSubmitted: "Transactions you sent us",
  hashLooking: "We're looking for this transaction.",
  hashUnknown:
    "The network doesn't know this transaction yet. We keep looking for an hour; check that you copied its hash.",
  hashGivenUp: "We couldn't find this transaction. If the network has it now, send its hash again.",
  hashDisplaced:
    "We couldn't find this transaction and stopped looking to make room for a newer one. Send its hash again if you need to.",
  hashCounted: "Found. It counts for this payment.",
  hashInReview: "Found. {merchant} decides whether it is for this payment.",
  hashNotForThis: "This transaction is not a payment for this invoice.",

  // --- facts and the receipt ---
  details: "Details",
  receipt: "Receipt",
  merchant: "Merchant",
  asked: "Asked for",
  received: "Received",
  excess: "Too much",
  network: "Network",
  reference: "Reference",
  paidAt: "Paid at",
  expires: "Expires",
  expired: "Expired",
  transaction: "Transaction",
  print: "Print the receipt",

  // --- around it ---
  checkAgain: "Check again",
  back: "Back to {merchant}",
  connectionLost: "This page cannot reach its server at the moment. It goes on trying.",
  notFoundHeadline: "There is no such payment",
  notFoundLead: "Check the link, or ask the merchant for a new one.",
  unavailableHeadline: "We cannot look at the moment",
  unavailableLead: "Your payment is safe. Wait a little, then look again. Do not send it twice.",

  // --- the test network ---
  testRibbon: "Test network: this money is not real",
  testPanel: "Test panel",
  testHint: "Try what payers and networks do. Nothing here is worth anything.",
  testPayer: "The payer",
  testNetwork: "The network",
  testPay: "Pay",
  testUnderpay: "Underpay",
  testOverpay: "Overpay",
  testMine: "Mine",
  testReorganise: "Reorganise",
  testExpire: "Expire",
  testPaid: "Paid. The payment comes into the next block.",
  testUnderpaid: "Paid half. The payment comes into the next block.",
  testOverpaid: "Paid too much. The payment comes into the next block.",
  testMined: "Made a block.",
  testReorganised: "Replaced the newest blocks. Payments in them are gone.",
  testExpired: "Ended the time to pay.",

  // --- the sentence in the API ---
  sendExactly:
    "Send {amount} on {network} to {address}. The amount that arrives must be {amount}: if you pay from an exchange, add its fee on top.",
  sendNothingNow: "The time to pay is over, or about to be. Do not send anything now.",
  sendNothingConfirming: "The payment is seen and being confirmed. Do not send anything more.",
  sendNothingPaid: "The invoice is paid. Do not send anything more.",
  sendNothingExpired:
    "The invoice has expired. Do not send anything; ask {merchant} for a new one.",
  sendNothingCanceled: "The invoice is canceled. Do not send anything.",
  sendNothingCanceledPaid:
    "The invoice is canceled, and a payment has arrived for it, which {merchant} looks at. Do not send anything more.",
} as const;
