import type { Catalogue } from "./en.ts";

/**
 * The payers' texts in Spanish. Machine translation of en.ts, not yet reviewed by a native speaker. Its texts are those
 * of en.ts with the digest 4190b25d657d.
 */
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
    "Deben llegar exactamente {amount}. ¿Pagas desde un exchange? Suma su comisión, para que lleguen exactamente {amount}.",
  onlyHere:
    "Envía solo {token} y solo por la red {network}. Cualquier otra cosa no llegará al comercio y no se podrá recuperar.",
  ownCoin:
    "Desde tu propia billetera, también necesitas un poco de {coin} para la comisión de red.",
  unnamedCoin:
    "Desde tu propia billetera, también necesitas un poco de la moneda propia de {network} para la comisión de red.",
  addressOn: "Dirección en la red {network}",
  copyAmount: "Copiar importe",
  copyAddress: "Copiar dirección",
  copied: "Copiado",
  amountCopied: "Importe copiado",
  addressCopied: "Dirección copiada",
  copyFailed: "No se pudo copiar. Selecciona el texto",
  openWallet: "Abrir en una billetera",
  showCode: "Mostrar el código QR",
  hideCode: "Ocultar el código QR",
  scanAddress: "Dirección en la red {network}, sin el importe. Introduce {amount} a mano.",
  scanAll: "Dirección, token e importe en la red {network}.",
  qrLabel: "Código QR: pagar {amount} en la red {network} a {address}",
  qrAddressLabel: "Código QR: la dirección {address} en la red {network}",
  otherCode: "Usar un código que incluye el importe",
  scanCheck:
    "Algunas billeteras no leen bien este código. Antes de confirmar, la tuya debe mostrar una dirección de destino que termine en {ending} y un importe de {amount}. Si muestra otra cosa, no envíes nada y usa la dirección.",
  otherOptions: "Pagar con otro token o red",
  optionsLead:
    "Cada opción tiene su propio importe y su propia dirección. ¿Ya enviaste algo? Entonces espera: sigue contando, al tipo de cambio que se te mostró.",
  optionChosen: "El importe y la dirección han cambiado.",
  optionRefused:
    "Esa forma de pago no está disponible ahora. Puedes elegir otra o pagar como se indica abajo.",
  optionsFull:
    "Has elegido tantas formas de pago como admite este pago. Todavía puedes elegir una de ellas.",
  optionClosed:
    "La forma de pago no se puede cambiar ahora. Esta página muestra el siguiente paso.",
  paymentFolded: "Importe y dirección para pagar",
  payBy: "Fecha límite:",
  timeLeft: "Tiempo restante: {time}",
  timeLeftToPay: "Tiempo restante para pagar: {time}",
  dayTime: "{day}, {time}",

  walletPayWith: "Pagar con {wallet}",
  walletPay: "Pagar con tu billetera",
  walletApps: "Abrir esta página en la aplicación de una billetera",
  walletWaiting: "Tu billetera te pide que confirmes. Comprueba allí el importe y la dirección.",
  walletSent:
    "Tu billetera ha enviado el pago. Aparecerá aquí en cuanto la red lo tenga. No lo envíes otra vez.",
  walletUnsubmitted:
    "Tu billetera ha enviado el pago. No hemos podido anotar la transacción, pero la encontraremos en la red de todos modos. No lo envíes otra vez.",
  walletRefused: "Lo has rechazado en tu billetera, así que no se ha enviado nada.",
  walletWrongNetwork:
    "Tu billetera no está en la red {network}, así que no le hemos pedido que envíe nada. Cambia de red en ella y vuelve a intentarlo.",
  walletWrongToken:
    "Tu billetera no ha podido confirmar que se trata de {token} en la red {network}, así que no le hemos pedido que envíe nada. Aún puedes pagar a la dirección de esta página.",
  walletTooLittle:
    "Esta cuenta de tu billetera tiene menos de {amount}, así que no le hemos pedido que envíe nada.",
  walletSilent:
    "Tu billetera no responde. Ábrela y compruébalo: si este pago figura allí como enviado o pendiente, no envíes otro. Si no, puedes pagar a la dirección de esta página.",
  walletFailed:
    "Tu billetera ha comunicado un problema. Míralo allí primero: si este pago figura como enviado o pendiente, no envíes otro.",
  walletChanged:
    "Este pago acaba de cambiar, así que no le hemos pedido a tu billetera que envíe nada. Comprueba antes el importe en esta página.",
  walletOffline:
    "No hemos podido leer el importe actual, así que no le hemos pedido a tu billetera que envíe nada. Vuelve a intentarlo en un momento.",
  awaitingHeadline: "Esperando tu pago",
  awaitingLead:
    "¿Ya lo enviaste? No lo envíes dos veces: aparecerá aquí. Puedes cerrar esta página y volver.",
  payAgain:
    "¿Tu billetera o exchange la muestra como completada? Entonces no pagues otra vez: ponte en contacto con {contact} e indica esta referencia: {reference}. Si no, puedes pagar de nuevo abajo.",
  lookingLead:
    "No pagues otra vez. Suele tardar unos minutos. Si no la encontramos en una hora, esta página lo dirá. Puedes cerrar esta página y volver.",
  lookingHeadline: "Buscando tu transacción",
  sentFailedHeadline: "Tu transacción ha fallado",
  enteredHeadline: "Esa transacción no corresponde a este pago",
  enteredNext:
    "No pagues otra vez todavía. ¿Introdujiste la equivocada? Introduce abajo la correcta. ¿Pagaste con esta? Ponte en contacto con {contact} e indica esta referencia: {reference}.",
  goneHeadline: "La red ya no muestra tu pago",
  goneLead:
    "Mira en tu billetera o exchange. Si muestra el pago como enviado, pendiente o completado, espera y no pagues otra vez. Si lo muestra como fallido, todavía tienes el dinero y puedes pagar de nuevo abajo. ¿Sigue sin aparecer aquí después de una hora? Ponte en contacto con {contact} e indica esta referencia: {reference}.",
  partlyPaidHeadline: "Ha llegado una parte de tu pago",
  partlyPaidLead:
    "Envía los {remaining} restantes para completar el pago. Hemos recibido {received} de {payable}.",
  partlyPaidSent: "¿Ya enviaste el resto? No lo envíes dos veces: aparecerá aquí.",
  partlyPaidElse:
    "¿No envías el resto? Cuando termine el tiempo para pagar, podrás pedir aquí que te devuelvan el dinero.",
  partlyPaidGone:
    "Han llegado {received}. Otro pago que habíamos visto ya no está en la red. Mira en tu billetera o exchange: si lo muestra como enviado, pendiente o completado, espera. Si lo muestra como fallido, envía el resto abajo.",
  confirmingHeadline: "Pago detectado",
  confirmingLead:
    "No tienes que hacer nada más y puedes cerrar esta página. La red está confirmando tu pago. Tiempo estimado: {wait}.",
  confirmationCount: "Confirmaciones: {current} de {required}",
  waitUnderMinute: "menos de un minuto",
  waitAbout: "aproximadamente {time}",
  inReviewHeadline: "Pago encontrado, a la espera del comercio",
  inReviewLead:
    "Espera y no lo envíes otra vez. {merchant} decide si acepta tu pago o lo devuelve. La decisión aparecerá en esta página.",
  inReviewUnclear: "Tu pago no se ha podido asignar automáticamente.",
  inReviewAmount: "Hemos recibido {arrived}, pero se habían pedido {payable}.",
  paidHeadline: "Pagado",
  paidLead: "¡Gracias! {merchant} ha recibido tu pago.",
  overpaidHeadline: "Pagado. Enviaste {excess} de más",
  overpaidLead: "{merchant} ha recibido tu pago.",
  sumPaid: "Has pagado",
  sumAsked: "Total del pedido",
  sumExcess: "De más",
  overpaidAction:
    "Para recuperar {excess}, ponte en contacto con {contact} e indica esta referencia: {reference}.",
  paidLateHeadline: "Pagado y aceptado",
  paidLateLead: "¡Gracias! {merchant} ha aceptado tu pago. No tienes que hacer nada más.",
  paidLateOverpaidLead: "{merchant} ha aceptado tu pago.",
  lateHeadline: "Tu pago llegó cuando el tiempo había terminado",
  lateLead:
    "Espera y no envíes nada más. {merchant} decide si acepta tu pago o lo devuelve. La decisión aparecerá en esta página.",
  expiredHeadline: "El tiempo para pagar ha terminado",
  expiredLead: "¿Aún no lo enviaste? No envíes nada ahora. Pide a {merchant} un enlace nuevo.",
  newLink:
    "No envíes nada ahora. Pide un enlace nuevo a {contact} e indica esta referencia: {reference}.",
  expiredSent:
    "¿Ya lo enviaste? No lo envíes otra vez: todavía puede aparecer aquí, así que guarda el enlace de esta página. ¿Sigue sin aparecer aquí una hora después de enviarlo? Ponte en contacto con {contact} e indica esta referencia: {reference}.",
  expiredPartlyHeadline: "Solo se pagó una parte a tiempo",
  expiredPartlyLead:
    "Ya no envíes el resto: el tiempo para pagar ha terminado. Hemos recibido {received} de {payable}.",
  expiredPartlyNext:
    "Ponte en contacto con {contact} por los {received} e indica esta referencia: {reference}.",
  canceledHeadline: "Cancelado por {merchant}",
  canceledLead: "No envíes nada: {merchant} ha cancelado este pedido.",
  notNeededLead: "Hemos recibido {arrived}. No envíes nada más.",
  canceledPaidHeadline: "Cancelado, pero tu pago ha llegado",
  canceledPaidLead:
    "Espera y no envíes nada más. {merchant} había cancelado este pedido y ahora decide si acepta tu pago o lo devuelve. La decisión aparecerá en esta página.",
  cannotCheckHeadline: "Ahora mismo no podemos consultar la red",
  cannotCheckSince: "Última comprobación: {time}.",
  cannotCheckLead:
    "¿Ya lo enviaste? No lo envíes otra vez: tu pago se encontrará en cuanto se pueda volver a leer la red {network}.",
  cannotCheckOpen:
    "¿Aún no has pagado? Lo mejor es esperar hasta que podamos volver a leer la red, y pedir un enlace nuevo si se acaba el tiempo. Si pagas ahora, lo veremos entonces.",
  cannotCheckOver: "¿Aún no has pagado? No pagues ahora. Pide un enlace nuevo a {contact}.",
  cannotCheckOverSent:
    "¿Ya lo enviaste? No lo envíes otra vez: todavía no hemos leído la red {network} hasta el final de ese tiempo. Esta página mostrará lo que encontremos.",
  notAcceptedHeadline: "Ahora no puedes pagar de esta forma",
  notAccepted:
    "No envíes nada: {merchant} no acepta por ahora {token} en la red {network}. ¿Ya lo enviaste o quieres pagar de otra forma? Ponte en contacto con {contact} e indica esta referencia: {reference}.",
  cannotConfirmNow:
    "Ahora mismo no podemos acceder a la red {network}. Las confirmaciones seguirán en cuanto podamos. Tu pago se ha encontrado, así que no lo envíes otra vez.",
  revertedHeadline: "La red debe volver a confirmar tu pago",
  revertedLead:
    "No pagues otra vez. La red {network} ha reordenado sus últimas transacciones y tiene que confirmar la tuya de nuevo. Esto pasa de vez en cuando, y el pago suele aparecer de nuevo en unos minutos.",
  revertedNext:
    "Puedes cerrar esta página y volver. ¿Sigue sin aparecer aquí una hora después de enviarlo? Ponte en contacto con {contact} e indica esta referencia: {reference}.",
  reverted:
    "Mira en tu billetera antes de enviar nada: la red no ha conservado un pago que antes aparecía aquí. Mientras tu billetera lo muestre como enviado o pendiente, no envíes otro.",
  transactionFailed: "La transacción que introdujiste falló en la red: tu dinero no se movió.",
  contact: "¿Preguntas? Ponte en contacto con {contact} e indica esta referencia: {reference}.",
  contactIfLong:
    "¿No hay decisión después de un día? Ponte en contacto con {contact} e indica esta referencia: {reference}.",
  waitOrRefund: "¿Prefieres que te devuelvan el dinero? Indica abajo adónde debe ir.",

  hashQuestion: "¿Ya pagaste, pero no lo ves aquí?",
  hashLead:
    "Pega el ID de tu transacción (TxID o hash) o su enlace en un explorador de bloques. La buscaremos en la red {network}.",
  hashLabel: "ID de la transacción (TxID o hash) o enlace",
  hashSend: "Buscar",
  hashReceived:
    "Gracias. Estamos buscando tu transacción y aparecerá en esta página cuando sepamos que corresponde a este pago. No pagues dos veces.",
  hashMalformed:
    "Esto no es un ID de transacción (TxID o hash). Un ID tiene 64 caracteres, como 3f5a…, y puede empezar por 0x. Cópialo de tu billetera o exchange y pégalo en el campo de abajo.",
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
    "La red todavía no ha confirmado esta transacción de forma definitiva. Mientras tu billetera la muestre como enviada o pendiente, no envíes otra.",
  hashFailed: "Esta transacción falló en la red, así que no se envió ningún {token}.",
  hashOtherAddress:
    "Esta transacción no envió nada a la dirección de este pago. Comprueba en tu billetera adónde fue.",
  hashOtherToken:
    "Esta transacción envió algo distinto de {token} en la red {network}, así que no cuenta. Ponte en contacto con {merchant} e indica esta referencia: {reference}.",
  hashTokenDisabled:
    "Por ahora no podemos aceptar {token} en la red {network}. Ponte en contacto con {merchant} e indica esta referencia: {reference}.",
  hashTooSmall: "Esta transacción envió demasiado poco para contar como pago.",
  hashTooEarly: "Esta transacción es anterior a este pago, así que no puede corresponder a él.",
  hashTooLate:
    "El tiempo para pagar terminó hace demasiado para que podamos asociar esta transacción. Ponte en contacto con {merchant} e indica esta referencia: {reference}.",
  hashNotForThis:
    "Esta transacción no es un pago de esta factura. Si crees que lo es, ponte en contacto con {merchant} e indica esta referencia: {reference}.",

  refundQuestion: "Pedir un reembolso",
  refundAmount: "Pedir que devuelvan {amount}",
  refundNext:
    "Indica la dirección de billetera a la que debe ir el reembolso. {merchant} envía los reembolsos desde su propia billetera, y esta página mostrará cuándo.",
  refundAsked:
    "Pediste que te devuelvan {refund}. {merchant} envía los reembolsos a mano, y esta página mostrará cuándo. Si no pasa nada, ponte en contacto con {contact} e indica esta referencia: {reference}.",
  refundLead:
    "{merchant} puede devolverte lo que este pago no necesita. Escribe el ID de la transacción (TxID o hash) de tu pago y una dirección de tu propia billetera. No escribas la dirección del exchange desde el que pagaste: lo que se envíe allí puede perderse.",
  refundAddressLabel: "Tu propia dirección en la red {network}",
  refundContinue: "Continuar",
  refundCheck: "¿Es esta tu dirección?",
  refundCheckLead:
    "Estás pidiendo a {merchant} que envíe {amount} por la red {network} a esta dirección. Compara cada carácter con tu billetera: lo que se envía a una dirección equivocada se pierde, y no podrás cambiarla después.",
  refundSend: "Sí, pedir el reembolso",
  refundChange: "Cambiarla",
  refundReceived:
    "Gracias. {merchant} tiene tu solicitud y decidirá sobre ella. Esta página mostrará cuándo el reembolso está en camino.",
  refundAlready:
    "Ya se ha pedido un reembolso de este pago y no lo hemos cambiado. Si no fuiste tú, ponte en contacto ahora con {merchant} e indica esta referencia: {reference}.",
  refundNothing:
    "No encontramos nada que reembolsar en esta transacción. Escribe el hash de tu pago confirmado en esta página o ponte en contacto con {merchant}.",
  refundBadAddress:
    "Eso no parece una dirección de la red {network}. Cópiala de nuevo de tu billetera.",
  refundAddressRefused:
    "Un reembolso a esta dirección no te llegaría. Escribe una dirección de tu propia billetera.",
  refunds: "Reembolsos",
  refundRequested: "{amount} a {address}: solicitado. {merchant} decidirá sobre él.",
  refundSent: "{amount} a {address}: enviado por {merchant}. Estamos comprobando la transacción.",
  refundConfirmed: "{amount} a {address}: reembolsado.",
  refundRejected: "{amount} a {address}: rechazado por {merchant}. Motivo: {reason}",
  refundWithdrawn:
    "{amount} a {address}: retirado, porque el pago hace falta al final o ya no está en la red.",

  details: "Detalles",
  receipt: "Recibo",
  merchant: "Comercio",
  asked: "Importe solicitado",
  invoiced: "Importe de la factura",
  received: "Recibido",
  excess: "Pagado de más",
  network: "Red",
  reference: "Referencia",
  paidAt: "Fecha de pago",
  expires: "Fecha límite",
  expired: "El plazo terminó",
  transaction: "Transacción",
  print: "Imprimir el recibo",
  questions: "¿Tienes preguntas sobre este pago?",
  askMerchant: "Ponte en contacto con {merchant} e indica esta referencia:",
  mailSubject: "Pago {reference}",
  neverAsks:
    "Esta página nunca te pedirá la clave privada ni la frase de recuperación de tu billetera.",

  downloadReceipt: "Descargar el recibo",
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

  linkTitle: "Pagar a {merchant}",
  linkAmount: "Importe en {currency}",
  linkBetween: "De {min} a {max}",
  linkAtLeast: "Como mínimo {min}",
  linkAtMost: "Como máximo {max}",
  linkContinue: "Continuar al pago",
  linkBadAmount: "Ese importe no es posible aquí. Compruébalo y escríbelo como 12.50.",
  linkUnavailable:
    "El pago no se puede iniciar en este momento. No se ha enviado nada. Inténtalo más tarde o ponte en contacto con {merchant}.",
  linkScan: "Escanea para pagar a {merchant}",
  checkAgain: "Comprobar de nuevo",
  back: "Volver a {merchant}",
  language: "Idioma",
  connectionLost: "Es posible que esta página no esté al día. Estamos intentando actualizarla.",
  notFoundHeadline: "No encontramos este enlace de pago",
  notFoundLead:
    "Comprueba que el enlace esté completo o pregunta a la tienda que te lo dio. Si ya has pagado, no pagues otra vez: pregunta a la tienda.",
  unavailableHeadline: "Ahora mismo no podemos comprobarlo",
  unavailableLead:
    "¿Ya has pagado? No pagues otra vez: tu pago se buscará en cuanto todo vuelva a funcionar. Vuelve a comprobarlo en un minuto. Si esta página no ha vuelto después de una hora, pregunta a la tienda.",
  busyHeadline: "Un momento, por favor",
  busyLead:
    "Esta página ha recibido muchísimas solicitudes y hacemos una breve pausa. ¿Ya has pagado? No pagues otra vez: seguimos buscando tu pago. Tiempo de espera: {time}. Después, vuelve a comprobarlo. Si estabas introduciendo el hash de una transacción, introdúcelo entonces de nuevo.",
  refusedHeadline: "Eso no ha funcionado",
  refusedLead:
    "No pudimos leer lo que envió tu navegador y no ha cambiado nada. Vuelve a tu pago e inténtalo de nuevo.",
  failedHeadline: "Algo falló de nuestra parte",
  failedLead:
    "¿Ya has pagado? No pagues otra vez: seguimos buscando tu pago en la red. Vuelve a comprobarlo en un minuto.",
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
