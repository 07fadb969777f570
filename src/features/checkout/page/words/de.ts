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
    "An den letzten Ziffern erkennen wir deine Zahlung. Bitte runde den Betrag deshalb nicht.",
  arrives:
    "Es müssen genau {amount} ankommen, bis zur letzten Nachkommastelle. Wenn du von einer Börse aus zahlst, rechne deren Auszahlungsgebühr dazu.",
  onlyHere:
    "Sende nur {token} über {network}. Alles andere erreicht den Händler nicht und kann nicht zurückgeholt werden.",
  ownCoin: "Für die Netzwerkgebühr brauchst du außerdem etwas {coin}.",
  unnamedCoin: "Für die Netzwerkgebühr brauchst du außerdem etwas von der Währung von {network}.",
  addressOn: "Adresse bei {network}",
  copyAmount: "Betrag kopieren",
  copyAddress: "Adresse kopieren",
  copied: "Kopiert",
  amountCopied: "Betrag kopiert",
  addressCopied: "Adresse kopiert",
  copyFailed: "Kopieren nicht möglich. Bitte markiere den Text",
  openWallet: "In einer Wallet öffnen",
  showCode: "QR-Code anzeigen",
  scanAddress: "Adresse bei {network}, ohne Betrag. Gib {amount} selbst ein.",
  scanAll: "Adresse, Token und Betrag bei {network}.",
  qrLabel: "QR-Code: {amount} über {network} an {address} zahlen",
  qrAddressLabel: "QR-Code: die Adresse {address} bei {network}",
  otherCode: "Einen Code verwenden, der den Betrag einträgt",
  scanCheck:
    "Nicht jede Wallet liest diesen Code richtig. Bevor du bestätigst, muss deine Wallet einen Empfänger anzeigen, der auf {ending} endet, und den Betrag {amount}. Zeigt sie etwas anderes an, dann sende nichts und verwende stattdessen die Adresse.",
  payBy: "Zahlbar bis",
  timeLeft: "noch {time}",
  timeLeftToPay: "Noch {time} Zeit zum Bezahlen",
  dayTime: "{day}, {time}",

  awaitingHeadline: "Wir warten auf deine Zahlung",
  awaitingLead: "Deine Zahlung erscheint hier, sobald das Netzwerk sie hat.",
  partlyPaidHeadline: "Ein Teil deiner Zahlung ist angekommen",
  partlyPaidLead:
    "Wir haben {received} von {payable} erhalten. Sende die übrigen {remaining}, um die Zahlung abzuschließen.",
  confirmingHeadline: "Zahlung gefunden",
  confirmingLead:
    "Das Netzwerk bestätigt sie gerade. Voraussichtliche Dauer: {wait}. Du musst nichts weiter tun und kannst diese Seite schließen.",
  confirmationCount: "Bestätigungen: {current} von {required}",
  waitUnderMinute: "weniger als eine Minute",
  waitAbout: "etwa {time}",
  inReviewHeadline: "Zahlung gefunden, der Händler prüft sie",
  inReviewLead:
    "Wir haben eine Zahlung gefunden, die {merchant} noch annehmen muss. Bitte sende sie nicht noch einmal: Diese Seite zeigt die Entscheidung.",
  paidHeadline: "Bezahlt",
  paidLead: "Danke! {merchant} hat deine Zahlung.",
  overpaidHeadline: "Bezahlt, und du hast zu viel gesendet",
  overpaidLead:
    "Wir haben {received} erhalten, das sind {excess} zu viel. {merchant} hat deine Zahlung.",
  overpaidAction:
    "Wenn du die Differenz zurückhaben möchtest, wende dich an {merchant} und nenne die Referenz unten.",
  paidLateHeadline: "Verspätet bezahlt",
  paidLateLead:
    "Deine Zahlung kam nach Ablauf der Frist an, und {merchant} hat sie angenommen. Du musst nichts weiter tun.",
  paidLateOverpaidLead:
    "Deine Zahlung kam nach Ablauf der Frist an, und {merchant} hat sie angenommen. Wir haben {received} erhalten, das sind {excess} zu viel.",
  lateHeadline: "Deine Zahlung kam zu spät an",
  lateLead:
    "Sie kam nach Ablauf der Frist an, deshalb entscheidet {merchant}, was mit ihr geschieht. Bitte sende nichts weiter.",
  expiredHeadline: "Diese Zahlung ist abgelaufen",
  expiredLead:
    "Bitte sende jetzt nichts mehr an ihre Adresse. Bitte {merchant} um einen neuen Link.",
  expiredSent:
    "Schon gesendet? Wir finden die Zahlung trotzdem. Bewahre den Link zu dieser Seite auf. Wenn deine Zahlung nicht bald erscheint, wende dich an {merchant} und nenne die Referenz unten.",
  expiredPartlyHeadline: "Abgelaufen, nur ein Teil wurde bezahlt",
  expiredPartlyLead:
    "Wir haben {received} von {payable} erhalten, und die Frist ist abgelaufen. Bitte sende den Rest jetzt nicht.",
  canceledHeadline: "Vom Händler storniert",
  canceledLead: "{merchant} hat diese Zahlung storniert. Bitte sende nichts an ihre Adresse.",
  canceledPaidHeadline: "Storniert, aber eine Zahlung ist angekommen",
  canceledPaidLead:
    "Eine Zahlung ist angekommen, obwohl {merchant} die Anforderung storniert hat. {merchant} prüft sie und entscheidet, was mit ihr geschieht. Bitte sende nichts weiter.",
  cannotCheckHeadline: "Wir können das Netzwerk gerade nicht prüfen",
  cannotCheckLead:
    "Deine Zahlung ist sicher: Wir finden alles, was du gesendet hast, sobald {network} wieder gelesen werden kann. Bitte sende es nicht zweimal.",
  cannotCheckOpen:
    "Noch nicht bezahlt? Du kannst weiterhin zahlen: Es zählt, wann das Netzwerk die Zahlung aufnimmt.",
  cannotCheckOver:
    "Noch nicht bezahlt? Bitte zahle jetzt nicht: Die Frist ist abgelaufen oder läuft gleich ab. Sieh in einer Minute noch einmal nach.",
  notAccepted:
    "{merchant} nimmt im Moment keine Zahlungen in diesem Token über {network} an. Bitte sende also nichts. Schon gesendet? Wende dich an {merchant} und nenne die Referenz unten.",
  cannotConfirmNow:
    "{network} kann im Moment nicht gelesen werden, deshalb kann die Anzahl veraltet sein. Deine Zahlung ist sicher.",
  revertedHeadline: "Deine Zahlung fehlt vorerst in der Blockchain",
  revertedLead:
    "{network} hat seine neuesten Blöcke ersetzt, und deine Zahlung war in einem davon. Normalerweise kehrt sie innerhalb von Minuten zurück. Bitte sende sie nicht noch einmal.",
  revertedNext:
    "Du kannst diese Seite schließen und später wieder nachsehen. Wenn deine Zahlung nicht zurückkehrt, wende dich an {merchant} und nenne die Referenz unten.",
  reverted:
    "Das Netzwerk hat eine Zahlung rückgängig gemacht, die hier schon zu sehen war, und sie ist nicht zurückgekehrt. Sieh in deiner Wallet nach, bevor du etwas sendest: Solange sie dort als gesendet oder ausstehend angezeigt wird, sende keine weitere.",
  transactionFailed:
    "Die zuletzt gemeldete Transaktion ist im Netzwerk fehlgeschlagen und hat kein Geld bewegt. Auch deine Wallet sollte sie als fehlgeschlagen anzeigen.",
  contact: "Wende dich an {merchant} und nenne die Referenz unten.",
  lastChecked: "Zuletzt geprüft",
  never: "Noch nicht",

  hashQuestion: "Schon bezahlt, aber nicht hier zu sehen?",
  hashLead:
    "Füge den Hash deiner Transaktion oder den Link des Block-Explorers ein. Wir suchen sie bei {network}.",
  hashLabel: "Transaktions-Hash oder Link",
  hashSend: "Suchen",
  hashReceived:
    "Danke. Wir suchen deine Transaktion, und diese Seite zeigt sie an, sobald wir wissen, dass sie zu dieser Zahlung gehört. Bitte sende nichts zweimal.",
  hashMalformed:
    "Das sieht nicht wie ein Transaktions-Hash aus. Ein Hash hat 64 Ziffern und Buchstaben von a bis f und kann mit 0x beginnen. Kopiere ihn aus deiner Wallet oder von deiner Börse und füge ihn noch einmal ein.",
  hashTooMany:
    "Wir prüfen noch die Transaktionen, die du uns geschickt hast. Warte auf die Ergebnisse, oder wende dich an den Händler.",

  hashSubmitted: "Transaktionen, die du uns geschickt hast",
  hashLooking: "Wir suchen diese Transaktion.",
  hashUnknown:
    "Das Netzwerk kennt diese Transaktion noch nicht. Wir versuchen es eine Stunde lang weiter. Bitte prüfe, ob du den Hash richtig kopiert hast.",
  hashGivenUp:
    "Wir können diese Transaktion nicht finden. Wenn das Netzwerk sie jetzt hat, sende den Hash noch einmal.",
  hashDisplaced:
    "Wir können diese Transaktion nicht finden und suchen nicht weiter, um Platz für eine neuere zu machen. Sende den Hash bei Bedarf noch einmal.",
  hashCounted: "Gefunden. Sie zählt für diese Zahlung.",
  hashInReview: "Gefunden. {merchant} entscheidet, ob sie zu dieser Zahlung gehört.",
  hashReverted:
    "Das Netzwerk hat den Block mit dieser Transaktion ersetzt. Solange deine Wallet sie als gesendet oder ausstehend anzeigt, sende bitte keine weitere.",
  hashFailed:
    "Diese Transaktion ist im Netzwerk fehlgeschlagen, deshalb wurden keine {token} gesendet.",
  hashOtherAddress:
    "Diese Transaktion hat nichts an die Adresse dieser Zahlung gesendet. Sieh in deiner Wallet nach, wohin sie ging.",
  hashOtherToken:
    "Diese Transaktion hat etwas anderes als {token} über {network} gesendet und zählt deshalb nicht. Wende dich an {merchant} und nenne die Referenz.",
  hashTokenDisabled:
    "Wir können {token} über {network} im Moment nicht annehmen. Wende dich an {merchant} und nenne die Referenz.",
  hashTooSmall: "Diese Transaktion hat zu wenig gesendet, um als Zahlung zu zählen.",
  hashTooEarly:
    "Diese Transaktion ist älter als diese Zahlung und kann deshalb nicht zu ihr gehören.",
  hashTooLate:
    "Die Frist ist zu lange abgelaufen, um diese Transaktion zuzuordnen. Wende dich an {merchant} und nenne die Referenz.",
  hashNotForThis:
    "Diese Transaktion ist keine Zahlung für diese Rechnung. Wenn du anderer Meinung bist, wende dich an {merchant} und nenne die Referenz.",

  details: "Details",
  receipt: "Beleg",
  merchant: "Händler",
  asked: "Fälliger Betrag",
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
  askMerchant: "Wende dich an {merchant} und nenne diese Referenz:",
  mailSubject: "Zahlung {reference}",

  downloadReceipt: "Signierten Beleg herunterladen",
  verifyTitle: "Beleg prüfen",
  verifyLead:
    "Füge einen signierten Beleg oder eine signierte Zahlungsaufforderung ein. Die Signatur zeigt, ob der Text von dieser Website stammt und unverändert ist.",
  verifyLabel: "Signierter Text",
  verifySend: "Prüfen",
  verifyReceipt: "Dieser Beleg ist echt",
  verifyRequest: "Diese Zahlungsaufforderung ist echt",
  verifyRequestLead:
    "Vergleiche Adresse und Betrag mit der Anzeige deiner Wallet, bevor du etwas sendest.",
  verifyRefused: "Wir können diesen Text nicht bestätigen",
  verifyChanged:
    "Der Text wurde verändert, oder ein Teil fehlt. Kopiere ihn noch einmal vollständig.",
  verifyUnknown:
    "Er wurde nicht von dieser Website signiert. Wenn er von einer anderen Website stammt, prüfe ihn dort.",
  verifyNotSigned:
    "Das ist kein signierter Text: Er ist eine lange Zeile aus Buchstaben und Ziffern mit zwei Punkten darin.",
  verifyAddress: "Adresse",
  signedBy: "Signiert von",
  signedOn: "Signiert am",

  checkAgain: "Erneut prüfen",
  back: "Zurück zu {merchant}",
  language: "Sprache",
  connectionLost: "Diese Seite ist vielleicht veraltet. Wir versuchen, sie zu aktualisieren.",
  notFoundHeadline: "Wir können diese Zahlung nicht finden",
  notFoundLead: "Prüfe den Link, oder bitte den Händler um einen neuen.",
  unavailableHeadline: "Wir können gerade nicht nachsehen",
  unavailableLead:
    "Deine Zahlung ist sicher. Warte einen Moment und sieh dann noch einmal nach. Bitte sende sie nicht zweimal.",
  busyHeadline: "Einen Moment, bitte",
  busyLead:
    "Diese Seite wurde gerade sehr oft aufgerufen, deshalb machen wir eine kurze Pause. Deine Zahlung ist sicher. Wartezeit: {time}. Sieh danach noch einmal nach; wenn du uns gerade etwas schicken wolltest, schicke es dann noch einmal.",
  refusedHeadline: "Das hat nicht geklappt",
  refusedLead:
    "Wir konnten nicht lesen, was dein Browser gesendet hat. Es hat sich nichts geändert. Gehe zurück zu deiner Zahlung und versuche es noch einmal.",
  failedHeadline: "Bei uns ist etwas schiefgegangen",
  failedLead:
    "Wenn du schon bezahlt hast, ist deine Zahlung sicher: Wir finden sie im Netzwerk. Sieh in einer Minute noch einmal nach, und sende sie bitte nicht zweimal.",
  formNotReceived:
    "Deine Eingabe ist vielleicht nicht angekommen. Bitte gehe zurück zur Zahlung und sende sie noch einmal, wenn sie dort nicht aufgeführt ist.",
  failedReference:
    "Wenn das immer wieder geschieht, schicke dem Händler diese Referenz: {reference}",
  homeTitle: "Zahlungsseiten",
  homeHeadline: "Hier nehmen Händler Zahlungen an",
  homeLead:
    "Dieser Server zeigt die Zahlungsseiten von Händlern, die in Krypto-Token bezahlt werden. Öffne zum Bezahlen den vollständigen Link, den du vom Händler bekommen hast.",
  homeDocs: "Für Entwickler: die Dokumentation der API",
  testRibbon: "Testnetzwerk: kein echtes Geld",
};
