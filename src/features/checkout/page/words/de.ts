import type { Catalogue } from "./en.ts";

/** The payers' texts in German. Machine translation of en.ts, not yet reviewed by a native speaker. */
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
  arrives:
    "Es müssen genau {amount} ankommen, bis zur letzten Nachkommastelle. Wenn Sie von einer Börse aus zahlen, rechnen Sie deren Auszahlungsgebühr dazu.",
  onlyHere:
    "Senden Sie nur {token} über {network}. Alles andere erreicht den Händler nicht und kann nicht zurückgeholt werden.",
  ownCoin: "Für die Netzwerkgebühr brauchen Sie außerdem etwas {coin}.",
  unnamedCoin: "Für die Netzwerkgebühr brauchen Sie außerdem etwas von der Währung von {network}.",
  addressOn: "Adresse im Netzwerk {network}",
  copyAmount: "Betrag kopieren",
  copyAddress: "Adresse kopieren",
  copied: "Kopiert",
  amountCopied: "Betrag kopiert",
  addressCopied: "Adresse kopiert",
  copyFailed: "Kopieren nicht möglich. Bitte Text markieren",
  openWallet: "In einer Wallet öffnen",
  showCode: "QR-Code anzeigen",
  scanAddress: "Adresse im Netzwerk {network}, ohne Betrag. Geben Sie {amount} selbst ein.",
  scanAll: "Adresse, Token und Betrag im Netzwerk {network}.",
  qrLabel: "QR-Code: {amount} über {network} an {address} zahlen",
  qrAddressLabel: "QR-Code: die Adresse {address} im Netzwerk {network}",
  otherCode: "Einen Code verwenden, der den Betrag einträgt",
  scanCheck:
    "Nicht jede Wallet liest diesen Code richtig. Bevor Sie bestätigen, muss Ihre Wallet eine Empfängeradresse anzeigen, die auf {ending} endet, und den Betrag {amount}. Zeigt sie etwas anderes an, dann senden Sie nichts und verwenden Sie stattdessen die Adresse.",
  payBy: "Zahlbar bis",
  timeLeft: "noch {time}",
  timeLeftToPay: "Noch {time} Zeit zum Bezahlen",
  dayTime: "{day}, {time}",

  awaitingHeadline: "Wir warten auf Ihre Zahlung",
  awaitingLead: "Ihre Zahlung erscheint hier, sobald das Netzwerk sie hat.",
  partlyPaidHeadline: "Ein Teil Ihrer Zahlung ist angekommen",
  partlyPaidLead:
    "Wir haben {received} von {payable} erhalten. Senden Sie die übrigen {remaining}, um die Zahlung abzuschließen.",
  confirmingHeadline: "Zahlung gefunden",
  confirmingLead:
    "Das Netzwerk bestätigt sie gerade. Voraussichtliche Dauer: {wait}. Sie müssen nichts weiter tun und können diese Seite schließen.",
  confirmationCount: "Bestätigungen: {current} von {required}",
  waitUnderMinute: "weniger als eine Minute",
  waitAbout: "etwa {time}",
  inReviewHeadline: "Zahlung gefunden, der Händler prüft sie",
  inReviewLead:
    "Wir haben eine Zahlung gefunden, die {merchant} noch annehmen muss. Bitte senden Sie sie nicht noch einmal: Diese Seite zeigt die Entscheidung.",
  paidHeadline: "Bezahlt",
  paidLead: "Danke! {merchant} hat Ihre Zahlung.",
  overpaidHeadline: "Bezahlt, aber Sie haben zu viel gesendet",
  overpaidLead:
    "Wir haben {received} erhalten, das sind {excess} zu viel. {merchant} hat Ihre Zahlung.",
  overpaidAction:
    "Wenn Sie die Differenz zurückhaben möchten, wenden Sie sich an {merchant} und nennen Sie die Referenz unten.",
  paidLateHeadline: "Verspätet bezahlt",
  paidLateLead:
    "Ihre Zahlung kam nach Ablauf der Frist an, und {merchant} hat sie angenommen. Sie müssen nichts weiter tun.",
  paidLateOverpaidLead:
    "Ihre Zahlung kam nach Ablauf der Frist an, und {merchant} hat sie angenommen. Wir haben {received} erhalten, das sind {excess} zu viel.",
  lateHeadline: "Ihre Zahlung kam zu spät an",
  lateLead:
    "Sie kam nach Ablauf der Frist an, deshalb entscheidet {merchant}, was mit ihr geschieht. Bitte senden Sie nichts weiter.",
  expiredHeadline: "Diese Zahlung ist abgelaufen",
  expiredLead:
    "Bitte senden Sie jetzt nichts mehr an die Adresse dieser Zahlung. Bitten Sie {merchant} um einen neuen Link.",
  expiredSent:
    "Schon gesendet? Wir finden die Zahlung trotzdem. Bewahren Sie den Link zu dieser Seite auf. Wenn Ihre Zahlung nicht bald erscheint, wenden Sie sich an {merchant} und nennen Sie die Referenz unten.",
  expiredPartlyHeadline: "Abgelaufen, nur ein Teil wurde bezahlt",
  expiredPartlyLead:
    "Wir haben {received} von {payable} erhalten, und die Frist ist abgelaufen. Bitte senden Sie den Rest jetzt nicht.",
  canceledHeadline: "Vom Händler storniert",
  canceledLead:
    "{merchant} hat diese Zahlung storniert. Bitte senden Sie nichts an die Adresse dieser Zahlung.",
  canceledPaidHeadline: "Storniert, aber eine Zahlung ist angekommen",
  canceledPaidLead:
    "Eine Zahlung ist angekommen, obwohl {merchant} die Anforderung storniert hat. {merchant} prüft sie und entscheidet, was mit ihr geschieht. Bitte senden Sie nichts weiter.",
  cannotCheckHeadline: "Wir können das Netzwerk gerade nicht prüfen",
  cannotCheckLead:
    "Ihre Zahlung ist sicher: Wir finden alles, was Sie gesendet haben, sobald {network} wieder gelesen werden kann. Bitte senden Sie es nicht zweimal.",
  cannotCheckOpen:
    "Noch nicht bezahlt? Sie können weiterhin zahlen: Es zählt, wann das Netzwerk die Zahlung aufnimmt.",
  cannotCheckOver:
    "Noch nicht bezahlt? Bitte zahlen Sie jetzt nicht: Die Frist ist abgelaufen oder läuft gleich ab. Sehen Sie in einer Minute noch einmal nach.",
  notAccepted:
    "{merchant} nimmt im Moment keine Zahlungen in diesem Token über {network} an. Bitte senden Sie also nichts. Schon gesendet? Wenden Sie sich an {merchant} und nennen Sie die Referenz unten.",
  cannotConfirmNow:
    "{network} kann im Moment nicht gelesen werden, deshalb kann die Anzahl veraltet sein. Ihre Zahlung ist sicher.",
  revertedHeadline: "Ihre Zahlung fehlt vorerst in der Blockchain",
  revertedLead:
    "{network} hat seine neuesten Blöcke ersetzt, und Ihre Zahlung war in einem davon. Normalerweise kehrt sie innerhalb von Minuten zurück. Bitte senden Sie sie nicht noch einmal.",
  revertedNext:
    "Sie können diese Seite schließen und später wieder nachsehen. Wenn Ihre Zahlung nicht zurückkehrt, wenden Sie sich an {merchant} und nennen Sie die Referenz unten.",
  reverted:
    "Das Netzwerk hat eine Zahlung rückgängig gemacht, die hier schon zu sehen war, und sie ist nicht zurückgekehrt. Sehen Sie in Ihrer Wallet nach, bevor Sie etwas senden: Solange sie dort als gesendet oder ausstehend angezeigt wird, senden Sie keine weitere.",
  transactionFailed:
    "Die zuletzt gemeldete Transaktion ist im Netzwerk fehlgeschlagen und hat kein Geld bewegt. Auch Ihre Wallet sollte sie als fehlgeschlagen anzeigen.",
  contact: "Wenden Sie sich an {merchant} und nennen Sie die Referenz unten.",
  lastChecked: "Zuletzt geprüft",
  never: "Noch nicht",

  hashQuestion: "Schon bezahlt, aber nicht hier zu sehen?",
  hashLead:
    "Fügen Sie den Hash Ihrer Transaktion oder den Link des Block-Explorers ein. Wir suchen sie im Netzwerk {network}.",
  hashLabel: "Transaktions-Hash oder Link",
  hashSend: "Suchen",
  hashReceived:
    "Danke. Wir suchen Ihre Transaktion, und diese Seite zeigt sie an, sobald wir wissen, dass sie zu dieser Zahlung gehört. Bitte senden Sie nichts zweimal.",
  hashMalformed:
    "Das sieht nicht wie ein Transaktions-Hash aus. Ein Hash hat 64 Ziffern und Buchstaben von a bis f und kann mit 0x beginnen. Kopieren Sie ihn aus Ihrer Wallet oder von Ihrer Börse und fügen Sie ihn noch einmal ein.",
  hashTooMany:
    "Wir prüfen noch die Transaktionen, die Sie eingegeben haben. Warten Sie auf die Ergebnisse, oder wenden Sie sich an den Händler.",

  hashSubmitted: "Transaktionen, die Sie eingegeben haben",
  hashLooking: "Wir suchen diese Transaktion.",
  hashUnknown:
    "Das Netzwerk kennt diese Transaktion noch nicht. Wir versuchen es eine Stunde lang weiter. Bitte prüfen Sie, ob Sie den Hash richtig kopiert haben.",
  hashGivenUp:
    "Wir können diese Transaktion nicht finden. Wenn das Netzwerk sie jetzt hat, geben Sie den Hash erneut ein.",
  hashDisplaced:
    "Wir können diese Transaktion nicht finden und suchen nicht weiter, um Platz für eine neuere zu machen. Geben Sie den Hash bei Bedarf erneut ein.",
  hashCounted: "Gefunden. Sie zählt für diese Zahlung.",
  hashInReview: "Gefunden. {merchant} entscheidet, ob sie zu dieser Zahlung gehört.",
  hashReverted:
    "Das Netzwerk hat den Block mit dieser Transaktion ersetzt. Solange Ihre Wallet sie als gesendet oder ausstehend anzeigt, senden Sie bitte keine weitere.",
  hashFailed:
    "Diese Transaktion ist im Netzwerk fehlgeschlagen, deshalb wurden keine {token} gesendet.",
  hashOtherAddress:
    "Diese Transaktion hat nichts an die Adresse dieser Zahlung gesendet. Sehen Sie in Ihrer Wallet nach, wohin sie ging.",
  hashOtherToken:
    "Diese Transaktion hat etwas anderes als {token} über {network} gesendet und zählt deshalb nicht. Wenden Sie sich an {merchant} und nennen Sie die Referenz.",
  hashTokenDisabled:
    "Wir können {token} über {network} im Moment nicht annehmen. Wenden Sie sich an {merchant} und nennen Sie die Referenz.",
  hashTooSmall: "Diese Transaktion hat zu wenig gesendet, um als Zahlung zu zählen.",
  hashTooEarly:
    "Diese Transaktion ist älter als diese Zahlung und kann deshalb nicht zu ihr gehören.",
  hashTooLate:
    "Die Frist ist schon zu lange abgelaufen, um diese Transaktion zuzuordnen. Wenden Sie sich an {merchant} und nennen Sie die Referenz.",
  hashNotForThis:
    "Diese Transaktion ist keine Zahlung für diese Rechnung. Wenn Sie anderer Meinung sind, wenden Sie sich an {merchant} und nennen Sie die Referenz.",

  details: "Details",
  receipt: "Beleg",
  merchant: "Händler",
  asked: "Fälliger Betrag",
  invoiced: "Rechnungsbetrag",
  received: "Erhalten",
  excess: "Zu viel gezahlt",
  network: "Netzwerk",
  reference: "Referenz",
  paidAt: "Bezahlt am",
  expires: "Läuft ab",
  expired: "Abgelaufen",
  transaction: "Transaktion",
  print: "Beleg drucken",
  questions: "Fragen zu dieser Zahlung?",
  askMerchant: "Wenden Sie sich an {merchant} und nennen Sie diese Referenz:",
  mailSubject: "Zahlung {reference}",
  neverAsks:
    "Diese Seite fragt nie nach dem privaten Schlüssel oder der Wiederherstellungsphrase Ihrer Wallet.",

  downloadReceipt: "Signierten Beleg herunterladen",
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

  checkAgain: "Erneut prüfen",
  back: "Zurück zu {merchant}",
  language: "Sprache",
  connectionLost: "Diese Seite ist vielleicht veraltet. Wir versuchen, sie zu aktualisieren.",
  notFoundHeadline: "Wir können diese Zahlung nicht finden",
  notFoundLead: "Prüfen Sie den Link, oder bitten Sie den Händler um einen neuen.",
  unavailableHeadline: "Wir können gerade nicht nachsehen",
  unavailableLead:
    "Ihre Zahlung ist sicher. Warten Sie einen Moment und sehen Sie dann noch einmal nach. Bitte senden Sie sie nicht zweimal.",
  busyHeadline: "Einen Moment, bitte",
  busyLead:
    "Diese Seite wurde gerade sehr oft aufgerufen, deshalb machen wir eine kurze Pause. Ihre Zahlung ist sicher. Wartezeit: {time}. Sehen Sie danach noch einmal nach. Wenn Sie gerade einen Transaktions-Hash eingegeben haben, geben Sie den Hash dann erneut ein. Bitte zahlen Sie nicht zweimal.",
  refusedHeadline: "Das hat nicht geklappt",
  refusedLead:
    "Wir konnten nicht lesen, was Ihr Browser gesendet hat. Es hat sich nichts geändert. Gehen Sie zurück zu Ihrer Zahlung und versuchen Sie es noch einmal.",
  failedHeadline: "Bei uns ist etwas schiefgegangen",
  failedLead:
    "Wenn Sie schon bezahlt haben, ist Ihre Zahlung sicher: Wir finden sie im Netzwerk. Sehen Sie in einer Minute noch einmal nach, und senden Sie sie bitte nicht zweimal.",
  formNotReceived:
    "Wenn Sie einen Transaktions-Hash eingegeben haben, ist er vielleicht nicht bei uns angekommen. Bitte gehen Sie zurück zur Zahlung, und geben Sie den Hash erneut ein, wenn die Transaktion dort nicht aufgeführt ist.",
  failedReference:
    "Wenn das immer wieder geschieht, schicken Sie dem Händler diese Referenz: {reference}",
  homeTitle: "Zahlungsseiten",
  homeHeadline: "Hier nehmen Händler Zahlungen an",
  homeLead:
    "Dieser Server zeigt die Zahlungsseiten von Händlern, die in Krypto-Token bezahlt werden. Öffnen Sie zum Bezahlen den vollständigen Link, den Sie vom Händler bekommen haben.",
  homeDocs: "Für Entwickler: die Dokumentation der API",
  testRibbon: "Testnetzwerk: kein echtes Geld",
};
