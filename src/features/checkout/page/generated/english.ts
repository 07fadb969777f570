// Written by npm run docs from config/languages/.

/** The payers' texts in English: the names and the placeholders that every language has. */
export const english = {
  lang: "en",
  dir: "ltr",
  name: "English",
  payTitle: "Pay {amount} to {merchant}",
  stateTitle: "{headline} · {merchant}",
  payTo: "Payment to",
  purpose: "For",
  order: "Order",
  amountToPay: "Amount to pay",
  stillToPay: "Still to pay",
  onNetwork: "on {network}",
  price: "Price: {amount}",
  lastDigits: "Please don't round it: the last digits tell us the payment is yours.",
  twoDecimalsShared:
    "Does your wallet take only two decimals? Use another one, or send {rounded} and enter the transaction ID on this page: {merchant} then assigns it to this payment.",
  twoDecimalsOwn: "Does your wallet take only two decimals? Then send {rounded}.",
  arrives:
    "Exactly {amount} must arrive. If your exchange deducts a fee from the amount, add the fee to it.",
  onlyHere:
    "Send only {token} on {network}. Anything else will not reach the merchant and cannot be recovered.",
  ownCoin: "From your own wallet, you also need a little {coin} for the network fee.",
  unnamedCoin:
    "From your own wallet, you also need a little of {network}'s own coin for the network fee.",
  addressOn: "Address on {network}",
  copyAmount: "Copy amount",
  copyAddress: "Copy address",
  copied: "Copied",
  amountCopied: "Amount copied",
  addressCopied: "Address copied",
  copyFailed: "Couldn't copy. Select the text instead",
  openWallet: "Open in a wallet",
  showCode: "Show the QR code",
  hideCode: "Hide the QR code",
  scanAddress: "Address on {network}, without the amount. Enter {amount} yourself.",
  scanAll: "Address, token and amount on {network}.",
  qrLabel: "QR code: pay {amount} on {network} to {address}",
  qrAddressLabel: "QR code: the address {address} on {network}",
  otherCode: "Use a code that fills in the amount",
  scanCheck:
    "Not every wallet reads this code correctly. Before you confirm, your wallet must show a recipient that ends in {ending} and an amount of {amount}. If it shows anything else, don't send: use the address instead.",
  otherOptions: "Pay with another token or network",
  optionsLead:
    "Each has its own amount and address. Already sent something? Then wait: it still counts, at the rate you were shown.",
  optionChosen: "The amount and the address have changed.",
  optionRefused:
    "That way to pay isn't available right now. You can choose another, or pay as shown below.",
  optionsFull:
    "You have chosen as many ways to pay as this payment can have. You can still choose one of those.",
  optionClosed: "The way to pay can't be changed now. This page shows what is next.",
  paymentFolded: "Amount and address to pay",
  payBy: "Pay by",
  timeLeft: "{time} left",
  timeLeftToPay: "{time} left to pay",
  dayTime: "{time} {day}",
  walletPayWith: "Pay with {wallet}",
  walletPay: "Pay with your wallet",
  walletApps: "Open this page in a wallet app",
  walletWaiting: "Your wallet asks you to confirm. Check the amount and the address there.",
  walletSent:
    "Your wallet has sent the payment. It appears here as soon as the network has it. Please don't send it again.",
  walletUnsubmitted:
    "Your wallet has sent the payment. We couldn't note its transaction, but we find it on the network anyway. Please don't send it again.",
  walletRefused: "You declined this in your wallet, so nothing was sent.",
  walletWrongNetwork:
    "Your wallet isn't on {network}, so we didn't ask it to send anything. Switch its network, then try again.",
  walletWrongToken:
    "Your wallet couldn't confirm that this is {token} on {network}, so we didn't ask it to send anything. You can still pay to the address on this page.",
  walletTooLittle:
    "This account of your wallet has less than {amount}, so we didn't ask it to send anything.",
  walletSilent:
    "Your wallet isn't answering. Open it and look: if it shows this payment as sent or pending, please don't send another. Otherwise, you can pay to the address on this page.",
  walletFailed:
    "Your wallet reported a problem. Look there first: if it shows this payment as sent or pending, please don't send another.",
  walletChanged:
    "This payment has just changed, so we didn't ask your wallet to send anything. Check the amount on this page first.",
  walletOffline:
    "We couldn't read the current amount, so we didn't ask your wallet to send anything. Please try again in a moment.",
  awaitingHeadline: "Waiting for your payment",
  awaitingLead:
    "Already sent it? Please don't send it twice: it will appear here. You can close this page and come back.",
  payAgain:
    "If your wallet or exchange shows it as completed nevertheless, contact {contact} first and tell them this reference: {reference}. Otherwise, you can pay again below.",
  lookingLead:
    "We're looking for the transaction that you entered, which usually takes a few minutes. If we can't find it within an hour, this page will say so.",
  lookingNext: "Please don't pay again. You can close this page and come back.",
  lookingOver:
    "The time to pay is over. If your payment arrived late, {merchant} will accept or refund it.",
  lookingHeadline: "Looking for your transaction",
  sentFailedHeadline: "Your transaction failed",
  enteredHeadline: "We haven't found your payment yet",
  missingHeadline: "We can't find your transaction",
  missingNext:
    "Look in your wallet or exchange. If it shows the payment as pending, wait. If it shows it as failed, you still have the money. If it shows it as completed, contact {contact} and tell them this reference: {reference}.",
  enteredNext:
    "Did you pay with another transaction? Enter its ID below. Did you pay with this one? Contact {contact} and tell them this reference: {reference}.",
  goneHeadline: "Check your wallet before you pay again",
  goneLead:
    "A payment that we had seen is no longer on the network. Your money isn't lost: look in your wallet or exchange.",
  goneWait:
    "Sent or pending there? Wait, and don't pay again. If it still isn't here an hour after you sent it, contact {contact} and tell them this reference: {reference}.",
  goneFailed: "Failed there? Then you still have the money, and can pay again below.",
  partlyPaidHeadline: "Part of your payment has arrived",
  partlyPaidLead:
    "{merchant} received {received} of {payable}. Send the remaining {remaining} to complete the payment.",
  partlyArrived: "{merchant} has received {received} of {payable} so far.",
  partlyPaidSent: "Already sent the rest? Please don't send it twice: it will appear here.",
  partlyPaidElse:
    "Not sending the rest? Once the time to pay is over, you can ask here for your money back.",
  partlyPaidGone:
    "{merchant} received {received}. Another payment that we had seen is no longer on the network. That money isn't lost: look in your wallet or exchange.",
  partlyPaidFailed:
    "Failed there? Then you still have that money, and can send the remaining {remaining} below.",
  confirmingHeadline: "Payment detected",
  confirmingLead:
    "You don't have to do anything else and can close this page. The network is confirming your payment, which takes {wait}.",
  confirmationCount: "Confirmations: {current} of {required}",
  waitUnderMinute: "less than a minute",
  waitAbout: "about {time}",
  inReviewHeadline: "Payment found, waiting for {merchant}",
  inReviewAmountHeadline: "A different amount has arrived",
  inReviewLead:
    "{merchant} will accept your payment or refund it. This page will show the decision. Please don't send anything until then.",
  inReviewEntered:
    "{merchant} received {arrived}. We found it with the transaction ID that you entered, so {merchant} checks first whether it is for this order.",
  inReviewAmount: "{merchant} received {arrived} instead of {payable}.",
  inReviewByHand: "{merchant} received {arrived}. Payments like this one are checked by hand.",
  paidHeadline: "Paid",
  paidLead: "Thank you. {merchant} has your payment.",
  overpaidHeadline: "Paid. You sent {excess} too much",
  overpaidLead: "{merchant} has your payment.",
  sumPaid: "You paid",
  sumAsked: "Order total",
  sumExcess: "Too much",
  overpaidAction:
    "To get {excess} back, contact {contact} and tell them this reference: {reference}.",
  paidLateHeadline: "Paid and accepted",
  paidLateLead:
    "Thank you. {merchant} has accepted your payment. You don't have to do anything else.",
  paidLateOverpaidLead: "{merchant} has accepted your payment.",
  lateHeadline: "Your payment arrived after the time to pay",
  lateLead:
    "{merchant} received {arrived} and will accept your payment or refund it. This page will show the decision. Please don't send anything else.",
  expiredHeadline: "The time to pay is over",
  expiredLead: "Not sent yet? Please don't send anything now. Ask {merchant} for a new link.",
  expiredElse: "Please don't send anything now.",
  newLink:
    "The time to pay is over too, so please don't send anything now. Ask {contact} for a new link, and tell them this reference: {reference}.",
  expiredSent:
    "Already sent it? Please don't send it again: it can still appear here, so keep the link to this page. Is it still not here an hour after you sent it? Contact {contact} and tell them this reference: {reference}.",
  paymentMoved:
    "{merchant} has moved the payment that arrived here to another invoice. Please don't send anything to this address. Ask {contact} for its link.",
  returnedHeadline: "Your money was sent back",
  returningHeadline: "Your refund is on its way",
  returnedLead:
    "{merchant} has sent {returned} back. Please don't send anything now. Do you still want to pay? Ask {merchant} for a new link.",
  expiredPartlyHeadline: "Only part was paid",
  expiredPartlyLead:
    "{merchant} received {received} of {payable}. The time to pay is over, so please don't send the rest.",
  expiredPartlyNext:
    "Contact {contact} about the {received} and tell them this reference: {reference}.",
  canceledHeadline: "Canceled by {merchant}",
  canceledLead: "{merchant} has canceled this order. Please don't send anything.",
  canceledSent:
    "Already sent it? It will appear here, and you can then ask for it back. If it isn't here an hour after you sent it, contact {contact} and tell them this reference: {reference}.",
  notNeededLead: "{merchant} received {arrived}. Please don't send anything else.",
  canceledPaidHeadline: "Canceled, but your payment has arrived",
  canceledPaidLead:
    "{merchant} canceled this order before your {arrived} arrived, and will accept your payment or refund it. This page will show the decision. Please don't send anything else.",
  cannotCheckHeadline: "We can't check the network right now",
  cannotCheckSince: "Last checked: {time}.",
  cannotCheckLead:
    "Already sent it? Please don't send it again: it will be found as soon as {network} can be read again.",
  cannotCheckOpen:
    "Not paid yet? It's best to wait until we can read the network again. If the time runs out meanwhile, ask {merchant} for a new link.",
  cannotCheckOver: "Not paid yet? Please don't pay now. Ask {contact} for a new link.",
  cannotCheckOverSent:
    "We're still waiting for the latest from {network}. Already sent it? Please don't send it again: your payment will appear here.",
  notAcceptedHeadline: "You can't pay this way right now",
  notAccepted: "Please don't send {token} on {network}: {merchant} doesn't take it at the moment.",
  notAcceptedSent:
    "Already sent it? It isn't lost: it goes to {merchant}'s wallet. Contact {contact} and tell them this reference: {reference}.",
  notAcceptedElse: "Not paid yet? Ask {contact} for another way to pay.",
  notAcceptedOptions: "Not paid yet? You can pay with another token or network below.",
  cannotConfirmNow:
    "Your payment was found, so please don't send it again. We can't reach {network} at the moment, so the number of confirmations may be out of date. You can close this page and come back.",
  revertedHeadline: "The network must confirm your payment again",
  revertedLead:
    "Please don't pay again. {network} replaced its newest blocks, which is normal, and has to confirm your payment a second time. This usually takes minutes. Your money isn't lost.",
  revertedNext:
    "You can close this page and come back. If your payment still isn't confirmed an hour after you sent it, contact {contact} and tell them this reference: {reference}.",
  reverted:
    "Look in your wallet before you send anything: the network didn't keep a payment that was shown here before. While your wallet shows it as sent or pending, please don't send another.",
  transactionFailed:
    "The transaction that you entered failed on the network. No {token} was sent: the money is still with you or your exchange.",
  contactIfLong:
    "No decision within a day? Contact {contact} and tell them this reference: {reference}.",
  contactOrRefund:
    "No decision within a day, or would you rather have a refund? Contact {contact} and tell them this reference: {reference}.",
  waitOrRefund: "To be sure that it can be refunded, leave your address below.",
  hashQuestion: "Already paid, but don't see it here?",
  hashAnother: "Enter another transaction ID",
  hashLead:
    "Paste your transaction ID (TxID or hash), or the block explorer's link to it. We'll look it up on {network}.",
  hashLabel: "Transaction ID (TxID or hash) or link",
  hashSend: "Find it",
  hashReceived:
    "Thank you. We're looking for your transaction, and this page will show it once we know it is for this payment. Please don't send it twice.",
  hashMalformed:
    "{problem} A transaction ID (TxID or hash) has 64 characters, or 66 with 0x at its start. Copy it from your wallet or exchange, and paste it into the field below.",
  hashTooShort: "This is too short.",
  hashTooLong: "This is too long.",
  hashWrongCharacter:
    "This isn't a transaction ID: it has characters other than digits and the letters A to F.",
  hashNotInLink: "We can't find one transaction ID in this link.",
  hashIsAddress: "This is an address, not a transaction ID.",
  hashTooMany:
    "We're still checking the transactions you entered. Wait for their results, or contact {merchant}.",
  hashSubmitted: "Transactions you entered",
  hashLooking: "We're looking for this transaction.",
  hashUnknown:
    "The network doesn't know this transaction yet. We'll keep trying for an hour. Compare the transaction ID with the one in your wallet or exchange.",
  hashGivenUp:
    "We looked for this transaction for an hour and can't find it. You can enter the transaction ID again.",
  hashDisplaced:
    "We can't find this transaction and stopped looking to make room for a newer one. Enter the transaction ID again if you need to.",
  hashCounted: "Found. It counts toward this payment.",
  hashInReview: "Found. {merchant} will decide whether it is for this payment.",
  hashReverted:
    "The network hasn't settled this transaction yet. While your wallet shows it as sent or pending, please don't send another.",
  hashFailed: "This transaction failed on the network, so no {token} was sent.",
  hashOtherAddress:
    "This transaction went to another address, not to {merchant}'s. Look in your wallet or exchange where it went.",
  hashOtherToken:
    "This transaction sent something other than {token} on {network}. Contact {contact} and tell them this reference: {reference}.",
  hashTokenDisabled:
    "We can't accept {token} on {network} at the moment. Contact {contact} and tell them this reference: {reference}.",
  hashTooSmall: "This transaction sent too little to count as a payment.",
  hashTooEarly: "This transaction is older than this payment, so it can't be for it.",
  hashTooLate:
    "This transaction was made long after the time to pay. If it went to the address of this payment, {merchant} has the money. Contact {contact} and tell them this reference: {reference}.",
  hashNotForThis:
    "This transaction is not a payment for this invoice. If you think it is, contact {contact} and tell them this reference: {reference}.",
  refundAmount: "Ask for {amount} back",
  refundNext:
    "Press the button and enter an address of your own wallet, or your exchange's deposit address for {token} on {network}. {merchant} sends the refund by hand, and you'll see here when it is on its way.",
  refundSoon:
    "You can ask for a refund here in some minutes, when the network has confirmed the payment.",
  refundAsked:
    "A refund of {refund} was requested. {merchant} sends it by hand, and you'll see here when it is on its way. Nothing after a few days? Contact {contact} and tell them this reference: {reference}.",
  refundLead:
    "{merchant} can send back what this payment doesn't need. Enter an address of your own: of your wallet, or your deposit address at an exchange. Don't enter the address from which an exchange sent your payment: what is sent there may be lost.",
  refundAddressLabel: "Your own address on {network}",
  refundContinue: "Continue",
  refundCheck: "Is this your address?",
  refundCheckLead:
    "You are asking {merchant} to send {amount} on {network} to this address. Compare every character with your wallet: what is sent to a wrong address is lost, and you can't change the address later.",
  refundSend: "Yes, ask for the refund",
  refundChange: "Change it",
  refundReceived:
    "Thank you. {merchant} has your request. This page shows when the refund is on its way.",
  refundAlready:
    "A refund of this payment has already been requested, and we have not changed it. If it wasn't you, contact {merchant} now and tell them this reference: {reference}.",
  refundNothing:
    "We can't find anything to refund in this transaction. Enter the transaction ID of your newest confirmed payment on this page, or contact {merchant}.",
  refundTooEarly:
    "The network is still confirming your payment, which usually takes minutes. Please ask for the refund again later. If that doesn't help within a day, contact {merchant}.",
  refundBadAddress:
    "That doesn't look like an address on {network}. Copy it again from your wallet.",
  refundAddressRefused:
    "A refund to this address would not reach you. Enter an address of your own wallet.",
  refunds: "Refunds",
  refundRequested: "{amount} to {address}: requested.",
  refundSent: "{amount} to {address}: sent by {merchant}. We're checking the transaction.",
  refundConfirmed: "{amount} to {address}: refunded.",
  refundRejected: "{amount} to {address}: declined by {merchant}. Reason: {reason}",
  refundWithdrawn:
    "{amount} to {address}: withdrawn, because the payment is needed after all or is no longer on the network.",
  details: "Details",
  receipt: "Receipt",
  merchant: "Merchant",
  asked: "Amount requested",
  invoiced: "Order total",
  received: "Received",
  excess: "Overpaid by",
  network: "Network",
  reference: "Reference",
  paidAt: "Paid",
  expires: "Pay by",
  expired: "Time to pay ended",
  transaction: "Transaction",
  print: "Print the receipt",
  questions: "Questions about this payment?",
  askMerchant: "Contact {merchant} and tell them this reference:",
  mailSubject: "Payment {reference}",
  neverAsks: "This page never asks for your wallet's private key or recovery phrase.",
  downloadReceipt: "Download the receipt",
  verifyTitle: "Verify a receipt",
  verifyLead:
    "Paste a signed receipt or payment request. Its signature shows whether it comes from this site and is unchanged.",
  verifyLabel: "Signed text",
  verifySend: "Verify",
  verifyReceipt: "This receipt is genuine",
  verifyRequest: "This payment request is genuine",
  verifyRequestLead:
    "It may have been paid or canceled since. Open the payment's page before you send anything, and compare the address and the amount with those in your wallet.",
  verifyExpired: "Its deadline has passed. Please don't send anything.",
  verifyOpen: "Open the payment",
  verifyRefused: "We can't verify this text",
  verifyChanged: "The text was changed, or part of it is missing. Copy all of it again.",
  verifyUnknown: "It was not signed by this site. If it comes from another site, verify it there.",
  verifyNotSigned:
    "This is not a signed text. A signed text is one long line of letters and digits with two dots in it.",
  verifyAddress: "Address",
  signedBy: "Signed by",
  signedOn: "Signed on",
  linkTitle: "Pay {merchant}",
  linkAmount: "Amount in {currency}",
  linkBetween: "From {min} to {max}",
  linkAtLeast: "At least {min}",
  linkAtMost: "At most {max}",
  linkContinue: "Continue to the payment",
  linkOption: "Token and network",
  linkBadOption: "That way to pay isn't available here. Please choose one from the list.",
  linkBadAmount: "That amount doesn't work here. Please check it and write it like 12.50.",
  linkBroken:
    "This payment can't be started, because {merchant} has to correct the link first. Nothing was sent. Please contact {merchant}.",
  linkUnavailable:
    "The payment can't be started right now. Nothing was sent. Please try again later, or contact {merchant}.",
  linkScan: "Scan to pay {merchant}",
  checkAgain: "Check again",
  back: "Back to {merchant}",
  language: "Language",
  connectionLost: "This page may be out of date. We're trying to refresh it.",
  notFoundHeadline: "We can't find this payment link",
  notFoundLead:
    "Check that the link is complete, or ask the shop that gave it to you. If you have already paid, please don't pay again: ask the shop.",
  unavailableHeadline: "We can't check right now",
  unavailableLead:
    "Already paid? Please don't pay again: your payment is looked for as soon as this works again. Check again in a minute. If this page isn't back within an hour, ask the shop.",
  busyHeadline: "One moment, please",
  busyLead:
    "This page was requested very often just now, so we are taking a short break. Already paid? Please don't pay again: your payment is still looked for. Check again in {time}. If you were entering a transaction ID, enter it again then.",
  refusedHeadline: "That didn't work",
  refusedLead:
    "We couldn't read what your browser sent, so nothing has changed. Go back to your payment and try again.",
  failedHeadline: "Something went wrong on our side",
  failedLead:
    "Already paid? Please don't pay again: we still look for your payment on the network. Check again in a minute.",
  formNotReceived:
    "If you entered a transaction ID, we may not have received it. Please go back to the payment, and enter the transaction ID again if the transaction is not listed there.",
  failedReference: "If this keeps happening, send the merchant this reference: {reference}",
  homeTitle: "Payment pages",
  homeHeadline: "Merchants accept payments here",
  homeLead:
    "This server shows the payment pages of merchants who are paid in crypto tokens. To pay, open the whole link that the merchant gave you.",
  homeDocs: "For developers: the API's documentation",
  testRibbon: "Test network: no real money",
} as const;

/** The shipped languages with their names in themselves. */
export const shippedLanguages: readonly (readonly [lang: string, name: string])[] = [
  ["id", "Bahasa Indonesia"],
  ["de", "Deutsch"],
  ["en", "English"],
  ["es", "Español"],
  ["fr", "Français"],
  ["it", "Italiano"],
  ["pt-BR", "Português (Brasil)"],
  ["vi", "Tiếng Việt"],
  ["tr", "Türkçe"],
  ["ru", "Русский"],
  ["uk", "Українська"],
  ["ar", "العربية"],
  ["hi", "हिन्दी"],
  ["ja", "日本語"],
  ["zh-Hans", "简体中文"],
];
