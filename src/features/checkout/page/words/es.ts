import type { Catalogue } from "./en.ts";

/** The payers' texts in Spanish. Machine translation of en.ts, not yet reviewed by a native speaker. */
export const es: Catalogue = {
  lang: "es",
  dir: "ltr",
  name: "Español",

  payTitle: "Pagar {amount} a {merchant}",
  stateTitle: "{headline} · {merchant}",
  payTo: "Pago a",
  purpose: "Concepto",
  order: "Pedido",
  amountToPay: "Importe a pagar",
  stillToPay: "Queda por pagar",
  onNetwork: "en la red {network}",
  price: "Precio: {amount}",
  lastDigits:
    "Los últimos dígitos nos permiten reconocer tu pago, así que no redondees el importe.",
  arrives:
    "Deben llegar exactamente {amount}, hasta el último decimal. Si pagas desde un exchange, suma su comisión de retiro.",
  onlyHere:
    "Envía solo {token} y solo por la red {network}. Cualquier otra cosa no llegará al comercio y no se podrá recuperar.",
  ownCoin: "También necesitas un poco de {coin} para la comisión de red.",
  unnamedCoin:
    "También necesitas un poco de la moneda propia de {network} para la comisión de red.",
  addressOn: "Dirección en la red {network}",
  copyAmount: "Copiar importe",
  copyAddress: "Copiar dirección",
  copied: "Copiado",
  amountCopied: "Importe copiado",
  addressCopied: "Dirección copiada",
  copyFailed: "No se pudo copiar. Selecciona el texto",
  openWallet: "Abrir en una billetera",
  showCode: "Mostrar el código QR",
  scanAddress: "Dirección en la red {network}, sin el importe. Introduce {amount} a mano.",
  scanAll: "Dirección, token e importe en la red {network}.",
  qrLabel: "Código QR: pagar {amount} en la red {network} a {address}",
  qrAddressLabel: "Código QR: la dirección {address} en la red {network}",
  otherCode: "Usar un código que incluye el importe",
  scanCheck:
    "Algunas billeteras no leen bien este código. Antes de confirmar, la tuya debe mostrar una dirección de destino que termine en {ending} y un importe de {amount}. Si muestra otra cosa, no envíes nada y usa la dirección.",
  payBy: "Fecha límite:",
  timeLeft: "Tiempo restante: {time}",
  timeLeftToPay: "Tiempo restante para pagar: {time}",
  dayTime: "{day}, {time}",

  awaitingHeadline: "Esperando tu pago",
  awaitingLead: "Tu pago aparecerá aquí en cuanto la red lo reciba.",
  partlyPaidHeadline: "Ha llegado una parte de tu pago",
  partlyPaidLead:
    "Hemos recibido {received} de {payable}. Envía los {remaining} restantes para completar el pago.",
  confirmingHeadline: "Pago detectado",
  confirmingLead:
    "La red lo está confirmando. Tiempo estimado: {wait}. No tienes que hacer nada más y puedes cerrar esta página.",
  confirmationCount: "Confirmaciones: {current} de {required}",
  waitUnderMinute: "menos de un minuto",
  waitAbout: "aproximadamente {time}",
  inReviewHeadline: "Pago encontrado, a la espera del comercio",
  inReviewLead:
    "Hemos encontrado un pago que {merchant} todavía tiene que aceptar. No lo envíes otra vez: la decisión aparecerá en esta página.",
  paidHeadline: "Pagado",
  paidLead: "¡Gracias! {merchant} ha recibido tu pago.",
  overpaidHeadline: "Pagado, pero has enviado de más",
  overpaidLead:
    "Hemos recibido {received}, es decir, {excess} de más. {merchant} ha recibido tu pago.",
  overpaidAction:
    "Para que te devuelvan la diferencia, ponte en contacto con {merchant} e indica la referencia que aparece abajo.",
  paidLateHeadline: "Pagado fuera de plazo",
  paidLateLead:
    "Tu pago llegó fuera de plazo y {merchant} lo ha aceptado. No tienes que hacer nada más.",
  paidLateOverpaidLead:
    "Tu pago llegó fuera de plazo y {merchant} lo ha aceptado. Hemos recibido {received}, es decir, {excess} de más.",
  lateHeadline: "Tu pago llegó tarde",
  lateLead:
    "Llegó fuera de plazo, así que {merchant} decidirá qué hacer con él. No envíes nada más.",
  expiredHeadline: "Este pago ha vencido",
  expiredLead: "No envíes nada a su dirección ahora. Pide a {merchant} un enlace nuevo.",
  expiredSent:
    "¿Ya lo enviaste? Lo encontraremos de todos modos. Guarda el enlace de esta página y, si tu pago no aparece pronto, ponte en contacto con {merchant} e indica la referencia que aparece abajo.",
  expiredPartlyHeadline: "Vencido: solo se pagó una parte",
  expiredPartlyLead:
    "Hemos recibido {received} de {payable} y el plazo ha terminado. No envíes el resto ahora.",
  canceledHeadline: "Cancelado por el comercio",
  canceledLead: "{merchant} ha cancelado este pago. No envíes nada a su dirección.",
  canceledPaidHeadline: "Cancelado, pero ha llegado un pago",
  canceledPaidLead:
    "Ha llegado un pago aunque {merchant} había cancelado la solicitud. {merchant} lo revisará y decidirá qué hacer con él. No envíes nada más.",
  cannotCheckHeadline: "Ahora mismo no podemos consultar la red",
  cannotCheckLead:
    "Tu pago está a salvo: encontraremos todo lo que hayas enviado en cuanto se pueda volver a leer la red {network}. No pagues dos veces.",
  cannotCheckOpen:
    "¿Aún no has pagado? Todavía puedes hacerlo: cuenta el momento en que la red registra el pago.",
  cannotCheckOver:
    "¿Aún no has pagado? No pagues ahora: el plazo ha terminado o está a punto de terminar. Vuelve a comprobarlo en un minuto.",
  notAccepted:
    "{merchant} no acepta por ahora pagos con este token en la red {network}, así que no envíes nada. ¿Ya lo enviaste? Ponte en contacto con {merchant} e indica la referencia que aparece abajo.",
  cannotConfirmNow:
    "Ahora mismo no se puede leer la red {network}, por lo que el número de confirmaciones puede no estar al día. Tu pago está a salvo.",
  revertedHeadline: "Tu pago está fuera de la cadena por ahora",
  revertedLead:
    "La red {network} ha reemplazado sus bloques más recientes y tu pago estaba en uno de ellos. Lo normal es que vuelva en unos minutos. No lo envíes otra vez.",
  revertedNext:
    "Puedes cerrar esta página y volver más tarde. Si tu pago no vuelve, ponte en contacto con {merchant} e indica la referencia que aparece abajo.",
  reverted:
    "La red ha revertido un pago que antes aparecía aquí y no ha vuelto. Búscalo en tu billetera antes de enviar nada: mientras figure allí como enviado o pendiente, no envíes otro.",
  transactionFailed:
    "La última transacción que se indicó falló en la red y no movió dinero. Tu billetera también debería mostrarla como fallida.",
  contact: "Ponte en contacto con {merchant} e indica la referencia que aparece abajo.",
  lastChecked: "Última comprobación",
  never: "Todavía no",

  hashQuestion: "¿Ya pagaste, pero no lo ves aquí?",
  hashLead:
    "Pega el hash de tu transacción o su enlace en un explorador de bloques. La buscaremos en la red {network}.",
  hashLabel: "Hash de la transacción (TxID) o enlace",
  hashSend: "Buscar",
  hashReceived:
    "Gracias. Estamos buscando tu transacción y aparecerá en esta página cuando sepamos que corresponde a este pago. No pagues dos veces.",
  hashMalformed:
    "Eso no parece el hash de una transacción. Un hash tiene 64 números y letras de la a a la f, y puede empezar por 0x. Cópialo de tu billetera o exchange y pégalo de nuevo.",
  hashTooMany:
    "Todavía estamos comprobando las transacciones que nos indicaste. Espera los resultados o ponte en contacto con el comercio.",

  hashSubmitted: "Transacciones que nos indicaste",
  hashLooking: "Estamos buscando esta transacción.",
  hashUnknown:
    "La red todavía no conoce esta transacción. Seguiremos intentándolo durante una hora. Comprueba que copiaste bien el hash.",
  hashGivenUp: "No encontramos esta transacción. Si ya está en la red, introduce el hash otra vez.",
  hashDisplaced:
    "No encontramos esta transacción y hemos dejado de buscarla para dar paso a una más reciente. Si lo necesitas, introduce el hash otra vez.",
  hashCounted: "Encontrada. Cuenta para este pago.",
  hashInReview: "Encontrada. {merchant} decidirá si corresponde a este pago.",
  hashReverted:
    "La red ha reemplazado el bloque que contenía esta transacción. Mientras tu billetera la muestre como enviada o pendiente, no envíes otra.",
  hashFailed: "Esta transacción falló en la red, así que no se envió ningún {token}.",
  hashOtherAddress:
    "Esta transacción no envió nada a la dirección de este pago. Comprueba en tu billetera adónde fue.",
  hashOtherToken:
    "Esta transacción envió algo distinto de {token} en la red {network}, así que no cuenta. Ponte en contacto con {merchant} e indica la referencia.",
  hashTokenDisabled:
    "Por ahora no podemos aceptar {token} en la red {network}. Ponte en contacto con {merchant} e indica la referencia.",
  hashTooSmall: "Esta transacción envió demasiado poco para contar como pago.",
  hashTooEarly: "Esta transacción es anterior a este pago, así que no puede corresponder a él.",
  hashTooLate:
    "El plazo terminó hace demasiado tiempo para que podamos asociar esta transacción. Ponte en contacto con {merchant} e indica la referencia.",
  hashNotForThis:
    "Esta transacción no es un pago de esta factura. Si crees que lo es, ponte en contacto con {merchant} e indica la referencia.",

  details: "Detalles",
  receipt: "Recibo",
  merchant: "Comercio",
  asked: "Importe debido",
  invoiced: "Importe de la factura",
  received: "Recibido",
  excess: "Pagado de más",
  network: "Red",
  reference: "Referencia",
  paidAt: "Fecha de pago",
  expires: "Vence",
  expired: "Venció",
  transaction: "Transacción",
  print: "Imprimir el recibo",
  questions: "¿Tienes preguntas sobre este pago?",
  askMerchant: "Ponte en contacto con {merchant} e indica esta referencia:",
  mailSubject: "Pago {reference}",
  neverAsks:
    "Esta página nunca te pedirá la clave privada ni la frase de recuperación de tu billetera.",

  downloadReceipt: "Descargar el recibo firmado",
  verifyTitle: "Verificar un recibo",
  verifyLead:
    "Pega un recibo o una solicitud de pago firmados. La firma muestra si el texto procede de este sitio y no se ha modificado.",
  verifyLabel: "Texto firmado",
  verifySend: "Verificar",
  verifyReceipt: "Este recibo es auténtico",
  verifyRequest: "Esta solicitud de pago es auténtica",
  verifyRequestLead:
    "Es posible que ya se haya pagado o cancelado. Abre la página del pago antes de enviar nada y compara la dirección y el importe con los que muestra tu billetera.",
  verifyExpired: "El plazo ha vencido. No envíes nada.",
  verifyOpen: "Abrir el pago",
  verifyRefused: "No podemos verificar este texto",
  verifyChanged: "El texto se ha modificado o falta una parte. Vuelve a copiarlo entero.",
  verifyUnknown: "No lo ha firmado este sitio. Si procede de otro sitio, verifícalo allí.",
  verifyNotSigned:
    "Esto no es un texto firmado. Un texto firmado es una sola línea larga de letras y cifras que contiene el signo «.» dos veces.",
  verifyAddress: "Dirección",
  signedBy: "Firmado por",
  signedOn: "Firmado el",

  checkAgain: "Comprobar de nuevo",
  back: "Volver a {merchant}",
  language: "Idioma",
  connectionLost: "Es posible que esta página no esté al día. Estamos intentando actualizarla.",
  notFoundHeadline: "No encontramos este pago",
  notFoundLead: "Comprueba el enlace o pide uno nuevo al comercio.",
  unavailableHeadline: "Ahora mismo no podemos comprobarlo",
  unavailableLead:
    "Tu pago está a salvo. Espera un momento y vuelve a comprobarlo. No pagues dos veces.",
  busyHeadline: "Un momento, por favor",
  busyLead:
    "Esta página ha recibido muchísimas solicitudes y hacemos una breve pausa. Tu pago está a salvo. Tiempo de espera: {time}. Después, vuelve a comprobarlo. Si estabas introduciendo el hash de una transacción, introdúcelo entonces de nuevo. No pagues dos veces.",
  refusedHeadline: "Eso no ha funcionado",
  refusedLead:
    "No pudimos leer lo que envió tu navegador y no ha cambiado nada. Vuelve a tu pago e inténtalo de nuevo.",
  failedHeadline: "Algo falló de nuestra parte",
  failedLead:
    "Si ya pagaste, tu pago está a salvo: lo encontraremos en la red. Vuelve a comprobarlo en un minuto y no pagues dos veces.",
  formNotReceived:
    "Si introdujiste el hash de una transacción, es posible que no lo hayamos recibido. Vuelve al pago e introduce el hash otra vez si la transacción no aparece allí.",
  failedReference: "Si sigue ocurriendo, envía esta referencia al comercio: {reference}",
  homeTitle: "Páginas de pago",
  homeHeadline: "Aquí los comercios reciben sus pagos",
  homeLead:
    "Este servidor muestra las páginas de pago de comercios que cobran en criptomonedas. Para pagar, abre el enlace completo que te dio el comercio.",
  homeDocs: "Para desarrolladores: la documentación de la API",
  testRibbon: "Red de prueba: no es dinero real",
};
