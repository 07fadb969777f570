import type { Catalogue } from "./en.ts";

/**
 * The payers' texts in German. Machine translation of en.ts, not yet reviewed by a native speaker. Its texts are those
 * of en.ts with the digest 8b303c81acb1.
 */
export const de: Catalogue = {
  lang: "de",
  dir: "ltr",
  name: "Deutsch",

  payTitle: "{amount} an {merchant} zahlen",
  stateTitle: "{headline} · {merchant}",
  payTo: "Zahlung an",
  purpose: "Für",
  order: "Bestellung",
  amountToPay: "Zu zahlender Betrag",
  stillToPay: "Noch zu zahlen",
  onNetwork: "über {network}",
  price: "Preis: {amount}",
  lastDigits:
    "An den letzten Ziffern erkennen wir Ihre Zahlung. Bitte runden Sie den Betrag deshalb nicht.",
  twoDecimalsShared:
    "Erlaubt Ihre Wallet nur zwei Nachkommastellen? Nehmen Sie eine andere, oder senden Sie {rounded} und geben Sie die Transaktions-ID auf dieser Seite ein: {merchant} ordnet sie dann dieser Zahlung zu.",
  twoDecimalsOwn: "Erlaubt Ihre Wallet nur zwei Nachkommastellen? Dann senden Sie {rounded}.",
  arrives:
    "Es müssen genau {amount} ankommen. Wenn Ihre Börse eine Gebühr vom Betrag abzieht, rechnen Sie die Gebühr hinzu.",
  onlyHere:
    "Senden Sie nur {token} über {network}. Alles andere erreicht den Händler nicht und kann nicht zurückgeholt werden.",
  ownCoin: "Aus Ihrer eigenen Wallet brauchen Sie außerdem etwas {coin} für die Netzwerkgebühr.",
  unnamedCoin:
    "Aus Ihrer eigenen Wallet brauchen Sie außerdem etwas von der Währung von {network} für die Netzwerkgebühr.",
  addressOn: "Adresse im Netzwerk {network}",
  copyAmount: "Betrag kopieren",
  copyAddress: "Adresse kopieren",
  copied: "Kopiert",
  amountCopied: "Betrag kopiert",
  addressCopied: "Adresse kopiert",
  copyFailed: "Kopieren nicht möglich. Bitte Text markieren",
  openWallet: "In einer Wallet öffnen",
  showCode: "QR-Code anzeigen",
  hideCode: "QR-Code ausblenden",
  scanAddress: "Adresse im Netzwerk {network}, ohne Betrag. Geben Sie {amount} selbst ein.",
  scanAll: "Adresse, Token und Betrag im Netzwerk {network}.",
  qrLabel: "QR-Code: {amount} über {network} an {address} zahlen",
  qrAddressLabel: "QR-Code: die Adresse {address} im Netzwerk {network}",
  otherCode: "Einen Code verwenden, der den Betrag einträgt",
  scanCheck:
    "Nicht jede Wallet liest diesen Code richtig. Bevor Sie bestätigen, muss Ihre Wallet eine Empfängeradresse anzeigen, die auf {ending} endet, und den Betrag {amount}. Zeigt sie etwas anderes an, dann senden Sie nichts und verwenden Sie stattdessen die Adresse.",
  otherOptions: "Mit anderem Token oder Netzwerk zahlen",
  optionsLead:
    "Jede Möglichkeit hat einen eigenen Betrag und eine eigene Adresse. Schon etwas gesendet? Dann warten Sie: Es zählt trotzdem, zu dem Kurs, der Ihnen gezeigt wurde.",
  optionChosen: "Betrag und Adresse haben sich geändert.",
  optionRefused:
    "Diese Zahlungsart ist gerade nicht verfügbar. Sie können eine andere wählen oder wie unten gezeigt zahlen.",
  optionsFull:
    "Sie haben so viele Zahlungsarten gewählt, wie diese Zahlung haben kann. Eine davon können Sie weiterhin wählen.",
  optionClosed:
    "Die Zahlungsart lässt sich jetzt nicht ändern. Diese Seite zeigt, wie es weitergeht.",
  paymentFolded: "Betrag und Adresse zum Bezahlen",
  payBy: "Zahlbar bis",
  timeLeft: "noch {time}",
  timeLeftToPay: "Noch {time} Zeit zum Bezahlen",
  dayTime: "{day}, {time}",

  walletPayWith: "Mit {wallet} zahlen",
  walletPay: "Mit Ihrer Wallet zahlen",
  walletApps: "Diese Seite in einer Wallet-App öffnen",
  walletWaiting: "Ihre Wallet bittet Sie um Bestätigung. Prüfen Sie dort Betrag und Adresse.",
  walletSent:
    "Ihre Wallet hat die Zahlung gesendet. Sie erscheint hier, sobald das Netzwerk sie hat. Bitte senden Sie sie nicht noch einmal.",
  walletUnsubmitted:
    "Ihre Wallet hat die Zahlung gesendet. Wir konnten die Transaktion nicht vermerken, finden sie aber trotzdem im Netzwerk. Bitte senden Sie sie nicht noch einmal.",
  walletRefused: "Sie haben in Ihrer Wallet abgelehnt. Es wurde nichts gesendet.",
  walletWrongNetwork:
    "Ihre Wallet ist nicht im Netzwerk {network}. Deshalb haben wir sie nicht um eine Zahlung gebeten. Wechseln Sie dort das Netzwerk und versuchen Sie es noch einmal.",
  walletWrongToken:
    "Ihre Wallet konnte nicht bestätigen, dass es sich um {token} im Netzwerk {network} handelt. Deshalb haben wir sie nicht um eine Zahlung gebeten. Sie können weiterhin an die Adresse auf dieser Seite zahlen.",
  walletTooLittle:
    "Auf diesem Konto Ihrer Wallet sind weniger als {amount}. Deshalb haben wir sie nicht um eine Zahlung gebeten.",
  walletSilent:
    "Ihre Wallet antwortet nicht. Öffnen Sie sie und sehen Sie nach: Wenn diese Zahlung dort als gesendet oder ausstehend erscheint, senden Sie bitte keine weitere. Andernfalls können Sie an die Adresse auf dieser Seite zahlen.",
  walletFailed:
    "Ihre Wallet hat ein Problem gemeldet. Sehen Sie zuerst dort nach: Wenn diese Zahlung als gesendet oder ausstehend erscheint, senden Sie bitte keine weitere.",
  walletChanged:
    "Diese Zahlung hat sich gerade geändert. Deshalb haben wir Ihre Wallet nicht um eine Zahlung gebeten. Prüfen Sie zuerst den Betrag auf dieser Seite.",
  walletOffline:
    "Wir konnten den aktuellen Betrag nicht abrufen. Deshalb haben wir Ihre Wallet nicht um eine Zahlung gebeten. Bitte versuchen Sie es gleich noch einmal.",
  awaitingHeadline: "Wir warten auf Ihre Zahlung",
  awaitingLead:
    "Schon gesendet? Bitte senden Sie nicht zweimal: Ihre Zahlung erscheint hier. Sie können diese Seite schließen und wiederkommen.",
  payAgain:
    "Wenn Ihre Wallet oder Börse sie trotzdem als abgeschlossen anzeigt, wenden Sie sich zuerst an {contact} und nennen Sie diese Referenz: {reference}. Andernfalls können Sie unten noch einmal zahlen.",
  lookingLead:
    "Wir suchen die Transaktion, die Sie eingegeben haben. Das dauert meist einige Minuten. Wenn wir sie nach einer Stunde nicht gefunden haben, steht das hier.",
  lookingNext:
    "Bitte zahlen Sie nicht noch einmal. Sie können diese Seite schließen und wiederkommen.",
  lookingOver:
    "Die Zeit zum Bezahlen ist vorbei. Falls Ihre Zahlung zu spät ankam, wird {merchant} sie annehmen oder zurückerstatten.",
  lookingHeadline: "Wir suchen Ihre Transaktion",
  sentFailedHeadline: "Ihre Transaktion ist fehlgeschlagen",
  enteredHeadline: "Wir haben Ihre Zahlung noch nicht gefunden",
  missingHeadline: "Wir können Ihre Transaktion nicht finden",
  missingNext:
    "Sehen Sie in Ihrer Wallet oder bei Ihrer Börse nach. Wird die Zahlung dort als ausstehend angezeigt, warten Sie. Wird sie als fehlgeschlagen angezeigt, haben Sie das Geld noch. Wird sie als abgeschlossen angezeigt, wenden Sie sich an {contact} und nennen Sie diese Referenz: {reference}.",
  enteredNext:
    "Haben Sie mit einer anderen Transaktion bezahlt? Geben Sie unten deren ID ein. Haben Sie mit dieser bezahlt? Wenden Sie sich an {contact} und nennen Sie diese Referenz: {reference}.",
  goneHeadline: "Sehen Sie in Ihre Wallet, bevor Sie neu zahlen",
  goneLead:
    "Eine Zahlung, die wir gesehen hatten, ist nicht mehr im Netzwerk. Ihr Geld ist nicht verloren: Sehen Sie in Ihrer Wallet oder bei Ihrer Börse nach.",
  goneWait:
    "Steht sie dort als gesendet oder ausstehend? Dann warten Sie und zahlen Sie nicht noch einmal. Ist sie eine Stunde nach dem Senden noch immer nicht hier? Wenden Sie sich an {contact} und nennen Sie diese Referenz: {reference}.",
  goneFailed:
    "Steht sie dort als fehlgeschlagen? Dann haben Sie das Geld noch und können unten noch einmal zahlen.",
  partlyPaidHeadline: "Ein Teil Ihrer Zahlung ist angekommen",
  partlyPaidLead:
    "{merchant} hat {received} von {payable} erhalten. Senden Sie die übrigen {remaining}, um die Zahlung abzuschließen.",
  partlyArrived: "{merchant} hat bisher {received} von {payable} erhalten.",
  partlyPaidSent: "Den Rest schon gesendet? Bitte senden Sie ihn nicht zweimal: Er erscheint hier.",
  partlyPaidElse:
    "Sie senden den Rest nicht? Wenn die Zeit zum Bezahlen vorbei ist, können Sie hier Ihr Geld zurückverlangen.",
  partlyPaidGone:
    "{merchant} hat {received} erhalten. Eine andere Zahlung, die wir gesehen hatten, ist nicht mehr im Netzwerk. Dieses Geld ist nicht verloren: Sehen Sie in Ihrer Wallet oder bei Ihrer Börse nach.",
  partlyPaidFailed:
    "Steht sie dort als fehlgeschlagen? Dann haben Sie dieses Geld noch und können unten die übrigen {remaining} senden.",
  confirmingHeadline: "Zahlung gefunden",
  confirmingLead:
    "Sie müssen nichts weiter tun und können diese Seite schließen. Das Netzwerk bestätigt Ihre Zahlung gerade. Voraussichtliche Dauer: {wait}.",
  confirmationCount: "Bestätigungen: {current} von {required}",
  waitUnderMinute: "weniger als eine Minute",
  waitAbout: "etwa {time}",
  inReviewHeadline: "Zahlung gefunden, {merchant} prüft sie",
  inReviewAmountHeadline: "Ein anderer Betrag ist angekommen",
  inReviewLead:
    "{merchant} wird Ihre Zahlung annehmen oder zurückerstatten. Diese Seite zeigt die Entscheidung. Bitte senden Sie bis dahin nichts.",
  inReviewEntered:
    "{merchant} hat {arrived} erhalten. Wir haben die Zahlung mit der Transaktions-ID gefunden, die Sie eingegeben haben. Deshalb prüft {merchant} zuerst, ob sie zu dieser Bestellung gehört.",
  inReviewAmount: "{merchant} hat {arrived} statt {payable} erhalten.",
  inReviewByHand: "{merchant} hat {arrived} erhalten. Zahlungen wie diese werden von Hand geprüft.",
  paidHeadline: "Bezahlt",
  paidLead: "Danke! {merchant} hat Ihre Zahlung.",
  overpaidHeadline: "Bezahlt. Sie haben {excess} zu viel gesendet",
  overpaidLead: "{merchant} hat Ihre Zahlung.",
  sumPaid: "Sie haben bezahlt",
  sumAsked: "Bestellsumme",
  sumExcess: "Zu viel",
  overpaidAction:
    "Wenn Sie {excess} zurückhaben möchten, wenden Sie sich an {contact} und nennen Sie diese Referenz: {reference}.",
  paidLateHeadline: "Bezahlt und angenommen",
  paidLateLead: "Danke! {merchant} hat Ihre Zahlung angenommen. Sie müssen nichts weiter tun.",
  paidLateOverpaidLead: "{merchant} hat Ihre Zahlung angenommen.",
  lateHeadline: "Ihre Zahlung kam nach Ablauf der Zeit an",
  lateLead:
    "{merchant} hat {arrived} erhalten und wird Ihre Zahlung annehmen oder zurückerstatten. Diese Seite zeigt die Entscheidung. Bitte senden Sie nichts weiter.",
  expiredHeadline: "Die Zeit zum Bezahlen ist vorbei",
  expiredLead:
    "Noch nicht gesendet? Bitte senden Sie jetzt nichts mehr. Bitten Sie {merchant} um einen neuen Link.",
  expiredElse: "Bitte senden Sie jetzt nichts.",
  newLink:
    "Auch die Zeit zum Bezahlen ist vorbei, bitte senden Sie also jetzt nichts. Bitten Sie {contact} um einen neuen Link und nennen Sie diese Referenz: {reference}.",
  expiredSent:
    "Schon gesendet? Bitte senden Sie nicht noch einmal: Ihre Zahlung kann hier noch erscheinen. Bewahren Sie deshalb den Link zu dieser Seite auf. Eine Stunde nach dem Senden noch immer nicht hier? Wenden Sie sich an {contact} und nennen Sie diese Referenz: {reference}.",
  paymentMoved:
    "{merchant} hat die Zahlung, die hier ankam, einer anderen Rechnung zugeordnet. Bitte senden Sie nichts an diese Adresse. Bitten Sie {contact} um deren Link.",
  returnedHeadline: "Ihr Geld wurde zurückgesendet",
  returningHeadline: "Ihre Rückerstattung ist unterwegs",
  returnedLead:
    "{merchant} hat {returned} zurückgesendet. Bitte senden Sie jetzt nichts. Möchten Sie noch zahlen? Bitten Sie {merchant} um einen neuen Link.",
  expiredPartlyHeadline: "Nur ein Teil wurde bezahlt",
  expiredPartlyLead:
    "{merchant} hat {received} von {payable} erhalten. Die Zeit zum Bezahlen ist vorbei, bitte senden Sie also den Rest nicht mehr.",
  expiredPartlyNext:
    "Wenden Sie sich wegen der {received} an {contact} und nennen Sie diese Referenz: {reference}.",
  canceledHeadline: "Storniert von {merchant}",
  canceledLead: "{merchant} hat diese Bestellung storniert. Bitte senden Sie nichts.",
  canceledSent:
    "Schon gesendet? Die Zahlung erscheint hier, und dann können Sie das Geld zurückverlangen. Ist sie eine Stunde nach dem Senden noch nicht hier? Wenden Sie sich an {contact} und nennen Sie diese Referenz: {reference}.",
  notNeededLead: "{merchant} hat {arrived} erhalten. Bitte senden Sie nichts weiter.",
  canceledPaidHeadline: "Storniert, aber Ihre Zahlung ist angekommen",
  canceledPaidLead:
    "{merchant} hatte diese Bestellung storniert, bevor Ihre {arrived} ankamen, und wird Ihre Zahlung annehmen oder zurückerstatten. Diese Seite zeigt die Entscheidung. Bitte senden Sie nichts weiter.",
  cannotCheckHeadline: "Wir können das Netzwerk gerade nicht prüfen",
  cannotCheckSince: "Zuletzt geprüft: {time}.",
  cannotCheckLead:
    "Schon gesendet? Bitte senden Sie nicht noch einmal: Ihre Zahlung wird gefunden, sobald {network} wieder gelesen werden kann.",
  cannotCheckOpen:
    "Noch nicht bezahlt? Am besten warten Sie, bis wir das Netzwerk wieder lesen können. Wenn die Zeit inzwischen abläuft, bitten Sie {merchant} um einen neuen Link.",
  cannotCheckOver:
    "Noch nicht bezahlt? Bitte zahlen Sie jetzt nicht. Bitten Sie {contact} um einen neuen Link.",
  cannotCheckOverSent:
    "Wir warten noch auf den neuesten Stand von {network}. Schon gesendet? Bitte senden Sie nicht noch einmal: Ihre Zahlung wird hier erscheinen.",
  notAcceptedHeadline: "So können Sie gerade nicht bezahlen",
  notAccepted:
    "Bitte senden Sie kein {token} über {network}: {merchant} nimmt es im Moment nicht an.",
  notAcceptedSent:
    "Schon gesendet? Das Geld ist nicht verloren: Es geht an die Wallet von {merchant}. Wenden Sie sich an {contact} und nennen Sie diese Referenz: {reference}.",
  notAcceptedElse: "Noch nicht bezahlt? Fragen Sie {contact}, wie Sie anders bezahlen können.",
  notAcceptedOptions:
    "Noch nicht bezahlt? Sie können unten mit einem anderen Token oder Netzwerk zahlen.",
  cannotConfirmNow:
    "Ihre Zahlung wurde gefunden, bitte senden Sie sie also nicht noch einmal. Wir erreichen {network} im Moment nicht, deshalb kann die Zahl der Bestätigungen veraltet sein. Sie können diese Seite schließen und wiederkommen.",
  revertedHeadline: "Das Netzwerk muss Ihre Zahlung neu bestätigen",
  revertedLead:
    "Bitte zahlen Sie nicht noch einmal. {network} hat die neuesten Blöcke ersetzt, was normal ist, und muss Ihre Zahlung ein zweites Mal bestätigen. Das dauert meist einige Minuten. Ihr Geld ist nicht verloren.",
  revertedNext:
    "Sie können diese Seite schließen und wiederkommen. Ist Ihre Zahlung eine Stunde nach dem Senden noch immer nicht bestätigt? Wenden Sie sich an {contact} und nennen Sie diese Referenz: {reference}.",
  reverted:
    "Sehen Sie in Ihrer Wallet nach, bevor Sie etwas senden: Das Netzwerk hat eine Zahlung nicht behalten, die hier schon zu sehen war. Solange Ihre Wallet sie als gesendet oder ausstehend anzeigt, senden Sie bitte keine weitere.",
  transactionFailed:
    "Die Transaktion, die Sie eingegeben haben, ist im Netzwerk fehlgeschlagen. Es wurden keine {token} gesendet: Das Geld ist noch bei Ihnen oder Ihrer Börse.",
  contactIfLong:
    "Nach einem Tag noch keine Entscheidung? Wenden Sie sich an {contact} und nennen Sie diese Referenz: {reference}.",
  contactOrRefund:
    "Nach einem Tag noch keine Entscheidung, oder möchten Sie lieber eine Rückerstattung? Wenden Sie sich an {contact} und nennen Sie diese Referenz: {reference}.",
  waitOrRefund: "Damit sie sicher zurückerstattet werden kann, geben Sie unten Ihre Adresse an.",

  hashQuestion: "Schon bezahlt, aber nicht hier zu sehen?",
  hashAnother: "Andere Transaktions-ID eingeben",
  hashLead:
    "Fügen Sie Ihre Transaktions-ID (TxID oder Hash) oder den Link des Block-Explorers ein. Wir suchen die Transaktion im Netzwerk {network}.",
  hashLabel: "Transaktions-ID (TxID oder Hash) oder Link",
  hashSend: "Suchen",
  hashReceived:
    "Danke. Wir suchen Ihre Transaktion, und diese Seite zeigt sie an, sobald wir wissen, dass sie zu dieser Zahlung gehört. Bitte senden Sie nichts zweimal.",
  hashMalformed:
    "{problem} Eine Transaktions-ID (TxID oder Hash) hat 64 Zeichen, oder 66 mit 0x am Anfang. Kopieren Sie sie aus Ihrer Wallet oder von Ihrer Börse und fügen Sie sie in das Feld unten ein.",
  hashTooShort: "Das ist zu kurz.",
  hashTooLong: "Das ist zu lang.",
  hashWrongCharacter:
    "Das ist keine Transaktions-ID: Es enthält andere Zeichen als Ziffern und die Buchstaben A bis F.",
  hashNotInLink: "Wir finden in diesem Link keine eindeutige Transaktions-ID.",
  hashIsAddress: "Das ist eine Adresse, keine Transaktions-ID.",
  hashTooMany:
    "Wir prüfen noch die Transaktionen, die Sie eingegeben haben. Warten Sie auf die Ergebnisse, oder wenden Sie sich an {merchant}.",

  hashSubmitted: "Transaktionen, die Sie eingegeben haben",
  hashLooking: "Wir suchen diese Transaktion.",
  hashUnknown:
    "Das Netzwerk kennt diese Transaktion noch nicht. Wir versuchen es eine Stunde lang weiter. Vergleichen Sie die Transaktions-ID mit der in Ihrer Wallet oder bei Ihrer Börse.",
  hashGivenUp:
    "Wir haben diese Transaktion eine Stunde lang gesucht und nicht gefunden. Sie können die Transaktions-ID erneut eingeben.",
  hashDisplaced:
    "Wir können diese Transaktion nicht finden und suchen nicht weiter, um Platz für eine neuere zu machen. Geben Sie die Transaktions-ID bei Bedarf erneut ein.",
  hashCounted: "Gefunden. Sie zählt für diese Zahlung.",
  hashInReview: "Gefunden. {merchant} entscheidet, ob sie zu dieser Zahlung gehört.",
  hashReverted:
    "Das Netzwerk hat diese Transaktion noch nicht endgültig. Solange Ihre Wallet sie als gesendet oder ausstehend anzeigt, senden Sie bitte keine weitere.",
  hashFailed:
    "Diese Transaktion ist im Netzwerk fehlgeschlagen, deshalb wurden keine {token} gesendet.",
  hashOtherAddress:
    "Diese Transaktion ging an eine andere Adresse, nicht an die von {merchant}. Sehen Sie in Ihrer Wallet oder bei Ihrer Börse nach, wohin sie ging.",
  hashOtherToken:
    "Diese Transaktion hat etwas anderes als {token} über {network} gesendet. Wenden Sie sich an {contact} und nennen Sie diese Referenz: {reference}.",
  hashTokenDisabled:
    "Wir können {token} über {network} im Moment nicht annehmen. Wenden Sie sich an {contact} und nennen Sie diese Referenz: {reference}.",
  hashTooSmall: "Diese Transaktion hat zu wenig gesendet, um als Zahlung zu zählen.",
  hashTooEarly:
    "Diese Transaktion ist älter als diese Zahlung und kann deshalb nicht zu ihr gehören.",
  hashTooLate:
    "Diese Transaktion wurde lange nach Ablauf der Zeit zum Bezahlen ausgeführt. Wenn sie an die Adresse dieser Zahlung ging, hat {merchant} das Geld. Wenden Sie sich an {contact} und nennen Sie diese Referenz: {reference}.",
  hashNotForThis:
    "Diese Transaktion ist keine Zahlung für diese Rechnung. Wenn Sie anderer Meinung sind, wenden Sie sich an {contact} und nennen Sie diese Referenz: {reference}.",

  refundAmount: "{amount} zurückverlangen",
  refundNext:
    "Drücken Sie auf den Knopf und geben Sie eine Adresse Ihrer eigenen Wallet an, oder Ihre Einzahlungsadresse bei einer Börse für {token} im Netzwerk {network}. {merchant} sendet die Rückerstattung von Hand, und Sie sehen hier, wenn sie unterwegs ist.",
  refundSoon:
    "Sie können hier in einigen Minuten eine Rückerstattung verlangen, sobald das Netzwerk die Zahlung bestätigt hat.",
  refundAsked:
    "Eine Rückerstattung von {refund} wurde verlangt. {merchant} sendet den Betrag von Hand, und Sie sehen hier, wenn er unterwegs ist. Nach einigen Tagen noch nichts? Wenden Sie sich an {contact} und nennen Sie diese Referenz: {reference}.",
  refundLead:
    "{merchant} kann zurücksenden, was für diese Zahlung nicht gebraucht wird. Geben Sie eine eigene Adresse an: die Ihrer Wallet oder Ihre Einzahlungsadresse bei einer Börse. Geben Sie nicht die Adresse an, von der eine Börse Ihre Zahlung gesendet hat: Was dorthin gesendet wird, kann verloren gehen.",
  refundAddressLabel: "Ihre eigene Adresse im Netzwerk {network}",
  refundContinue: "Weiter",
  refundCheck: "Ist das Ihre Adresse?",
  refundCheckLead:
    "Sie bitten {merchant}, {amount} im Netzwerk {network} an diese Adresse zu senden. Vergleichen Sie jedes Zeichen mit Ihrer Wallet: Was an eine falsche Adresse gesendet wird, ist verloren, und die Adresse lässt sich später nicht ändern.",
  refundSend: "Ja, Rückerstattung anfordern",
  refundChange: "Ändern",
  refundReceived:
    "Danke. {merchant} hat Ihre Anfrage. Diese Seite zeigt, wenn die Rückerstattung unterwegs ist.",
  refundAlready:
    "Für diese Zahlung wurde bereits eine Rückerstattung angefordert, und wir haben sie nicht geändert. Wenn Sie das nicht waren, wenden Sie sich jetzt an {merchant} und nennen Sie diese Referenz: {reference}.",
  refundNothing:
    "Wir finden in dieser Transaktion nichts, was zurückerstattet werden kann. Geben Sie die Transaktions-ID Ihrer neuesten bestätigten Zahlung auf dieser Seite an oder wenden Sie sich an {merchant}.",
  refundTooEarly:
    "Das Netzwerk bestätigt Ihre Zahlung noch, was meist einige Minuten dauert. Bitte fordern Sie die Rückerstattung später noch einmal an. Hilft das innerhalb eines Tages nicht, wenden Sie sich an {merchant}.",
  refundBadAddress:
    "Das sieht nicht wie eine Adresse im Netzwerk {network} aus. Kopieren Sie sie noch einmal aus Ihrer Wallet.",
  refundAddressRefused:
    "An dieser Adresse würde Sie die Rückerstattung nicht erreichen. Geben Sie eine Adresse Ihrer eigenen Wallet an.",
  refunds: "Rückerstattungen",
  refundRequested: "{amount} an {address}: verlangt.",
  refundSent: "{amount} an {address}: von {merchant} gesendet. Wir prüfen die Transaktion.",
  refundConfirmed: "{amount} an {address}: zurückerstattet.",
  refundRejected: "{amount} an {address}: von {merchant} abgelehnt. Grund: {reason}",
  refundWithdrawn:
    "{amount} an {address}: zurückgezogen, weil die Zahlung doch gebraucht wird oder nicht mehr im Netzwerk ist.",

  details: "Details",
  receipt: "Beleg",
  merchant: "Händler",
  asked: "Angeforderter Betrag",
  invoiced: "Bestellsumme",
  received: "Erhalten",
  excess: "Zu viel gezahlt",
  network: "Netzwerk",
  reference: "Referenz",
  paidAt: "Bezahlt",
  expires: "Zahlbar bis",
  expired: "Zahlbar war bis",
  transaction: "Transaktion",
  print: "Beleg drucken",
  questions: "Fragen zu dieser Zahlung?",
  askMerchant: "Wenden Sie sich an {merchant} und nennen Sie diese Referenz:",
  mailSubject: "Zahlung {reference}",
  neverAsks:
    "Diese Seite fragt nie nach dem privaten Schlüssel oder der Wiederherstellungsphrase Ihrer Wallet.",

  downloadReceipt: "Beleg herunterladen",
  verifyTitle: "Beleg prüfen",
  verifyLead:
    "Fügen Sie einen signierten Beleg oder eine signierte Zahlungsaufforderung ein. Die Signatur zeigt, ob der Text von dieser Website stammt und unverändert ist.",
  verifyLabel: "Signierter Text",
  verifySend: "Prüfen",
  verifyReceipt: "Dieser Beleg ist echt",
  verifyRequest: "Diese Zahlungsaufforderung ist echt",
  verifyRequestLead:
    "Sie kann inzwischen bezahlt oder storniert sein. Öffnen Sie die Zahlungsseite, bevor Sie etwas senden, und vergleichen Sie Adresse und Betrag mit der Anzeige Ihrer Wallet.",
  verifyExpired: "Die Frist ist abgelaufen. Bitte senden Sie nichts.",
  verifyOpen: "Zahlung öffnen",
  verifyRefused: "Wir können diesen Text nicht bestätigen",
  verifyChanged:
    "Der Text wurde verändert, oder ein Teil fehlt. Kopieren Sie ihn noch einmal vollständig.",
  verifyUnknown:
    "Er wurde nicht von dieser Website signiert. Wenn er von einer anderen Website stammt, prüfen Sie ihn dort.",
  verifyNotSigned:
    "Das ist kein signierter Text. Ein signierter Text ist eine lange Zeile aus Buchstaben und Ziffern mit zwei Punkten darin.",
  verifyAddress: "Adresse",
  signedBy: "Signiert von",
  signedOn: "Signiert am",

  linkTitle: "An {merchant} zahlen",
  linkAmount: "Betrag in {currency}",
  linkBetween: "Von {min} bis {max}",
  linkAtLeast: "Mindestens {min}",
  linkAtMost: "Höchstens {max}",
  linkContinue: "Weiter zur Zahlung",
  linkOption: "Token und Netzwerk",
  linkBadOption: "Diese Zahlungsart ist hier nicht möglich. Bitte wählen Sie eine aus der Liste.",
  linkBadAmount:
    "Dieser Betrag ist hier nicht möglich. Bitte prüfen Sie ihn und schreiben Sie ihn wie 12.50.",
  linkBroken:
    "Die Zahlung kann nicht begonnen werden, weil {merchant} den Link erst berichtigen muss. Es wurde nichts gesendet. Bitte wenden Sie sich an {merchant}.",
  linkUnavailable:
    "Die Zahlung kann gerade nicht begonnen werden. Es wurde nichts gesendet. Bitte versuchen Sie es später noch einmal oder wenden Sie sich an {merchant}.",
  linkScan: "Scannen und an {merchant} zahlen",
  checkAgain: "Erneut prüfen",
  back: "Zurück zu {merchant}",
  language: "Sprache",
  connectionLost: "Diese Seite ist vielleicht veraltet. Wir versuchen, sie zu aktualisieren.",
  notFoundHeadline: "Wir können diesen Zahlungslink nicht finden",
  notFoundLead:
    "Prüfen Sie, ob der Link vollständig ist, oder fragen Sie den Shop, von dem Sie ihn haben. Wenn Sie schon bezahlt haben, zahlen Sie bitte nicht noch einmal: Fragen Sie den Shop.",
  unavailableHeadline: "Wir können gerade nicht nachsehen",
  unavailableLead:
    "Schon bezahlt? Bitte zahlen Sie nicht noch einmal: Ihre Zahlung wird gesucht, sobald hier alles wieder funktioniert. Sehen Sie in einer Minute noch einmal nach. Wenn diese Seite nach einer Stunde nicht wieder da ist, fragen Sie den Shop.",
  busyHeadline: "Einen Moment, bitte",
  busyLead:
    "Diese Seite wurde gerade sehr oft aufgerufen, deshalb machen wir eine kurze Pause. Schon bezahlt? Bitte zahlen Sie nicht noch einmal: Ihre Zahlung wird weiter gesucht. Wartezeit: {time}. Sehen Sie danach noch einmal nach. Wenn Sie gerade eine Transaktions-ID eingegeben haben, geben Sie die Transaktions-ID dann erneut ein.",
  refusedHeadline: "Das hat nicht geklappt",
  refusedLead:
    "Wir konnten nicht lesen, was Ihr Browser gesendet hat. Es hat sich nichts geändert. Gehen Sie zurück zu Ihrer Zahlung und versuchen Sie es noch einmal.",
  failedHeadline: "Bei uns ist etwas schiefgegangen",
  failedLead:
    "Schon bezahlt? Bitte zahlen Sie nicht noch einmal: Wir suchen Ihre Zahlung weiter im Netzwerk. Sehen Sie in einer Minute noch einmal nach.",
  formNotReceived:
    "Wenn Sie eine Transaktions-ID eingegeben haben, ist sie vielleicht nicht bei uns angekommen. Bitte gehen Sie zurück zur Zahlung, und geben Sie die Transaktions-ID erneut ein, wenn die Transaktion dort nicht aufgeführt ist.",
  failedReference:
    "Wenn das immer wieder geschieht, schicken Sie dem Händler diese Referenz: {reference}",
  homeTitle: "Zahlungsseiten",
  homeHeadline: "Hier nehmen Händler Zahlungen an",
  homeLead:
    "Dieser Server zeigt die Zahlungsseiten von Händlern, die in Krypto-Token bezahlt werden. Öffnen Sie zum Bezahlen den vollständigen Link, den Sie vom Händler bekommen haben.",
  homeDocs: "Für Entwickler: die Dokumentation der API",
  testRibbon: "Testnetzwerk: kein echtes Geld",
};
