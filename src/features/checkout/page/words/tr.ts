import type { Catalogue } from "./en.ts";

/**
 * The payers' texts in Turkish. Machine translation of en.ts, not yet reviewed by a native speaker. Its texts are those
 * of en.ts with the digest 8b303c81acb1. Values take no suffixes, because the vowels of a suffix depend on the value.
 */
export const tr: Catalogue = {
  lang: "tr",
  dir: "ltr",
  name: "Türkçe",

  payTitle: "{merchant} için {amount} ödeme",
  stateTitle: "{headline} · {merchant}",
  payTo: "Ödeme alıcısı",
  purpose: "Açıklama",
  order: "Sipariş",
  amountToPay: "Ödenecek tutar",
  stillToPay: "Kalan tutar",
  onNetwork: "{network} ağında",
  price: "Fiyat: {amount}",
  lastDigits: "Ödemenizi son basamaklardan tanıyoruz. Bu nedenle lütfen tutarı yuvarlamayın.",
  twoDecimalsShared:
    "Cüzdanınız yalnızca iki ondalık basamak mı kabul ediyor? Başka bir cüzdan kullanın ya da {rounded} gönderip işlem kodunu bu sayfaya girin: {merchant} işlemi bu ödemeyle eşleştirir.",
  twoDecimalsOwn:
    "Cüzdanınız yalnızca iki ondalık basamak mı kabul ediyor? O zaman {rounded} gönderin.",
  arrives:
    "Tam olarak {amount} ulaşmalıdır. Borsanız tutardan ücret kesiyorsa ücreti tutara ekleyin.",
  onlyHere:
    "Yalnızca {network} ağında {token} gönderin. Bunun dışındaki gönderimler satıcıya ulaşmaz ve geri alınamaz.",
  ownCoin: "Kendi cüzdanınızdan öderken ağ ücreti için ayrıca biraz {coin} gerekir.",
  unnamedCoin:
    "Kendi cüzdanınızdan öderken ağ ücreti için ayrıca {network} ağının kendi parasından biraz gerekir.",
  addressOn: "{network} ağındaki adres",
  copyAmount: "Tutarı kopyala",
  copyAddress: "Adresi kopyala",
  copied: "Kopyalandı",
  amountCopied: "Tutar kopyalandı",
  addressCopied: "Adres kopyalandı",
  copyFailed: "Kopyalanamadı. Metni kendiniz seçin",
  openWallet: "Cüzdanda aç",
  showCode: "QR kodunu göster",
  hideCode: "QR kodunu gizle",
  scanAddress: "{network} ağındaki adres, tutar olmadan. {amount} tutarını kendiniz girin.",
  scanAll: "{network} ağındaki adres, token ve tutar.",
  qrLabel: "QR kodu: {network} ağında {address} adresine {amount} ödeme",
  qrAddressLabel: "QR kodu: {network} ağındaki {address} adresi",
  otherCode: "Tutarı da içeren bir kod kullan",
  scanCheck:
    "Bazı cüzdanlar bu kodu doğru okumaz. Onaylamadan önce cüzdanınızda sonu {ending} olan bir alıcı ve {amount} tutarı görünmelidir. Başka bir şey görünüyorsa göndermeyin, bunun yerine adresi kullanın.",
  otherOptions: "Başka bir token veya ağ ile öde",
  optionsLead:
    "Her seçeneğin kendi tutarı ve adresi vardır. Zaten bir şey gönderdiniz mi? O zaman bekleyin: Size gösterilen kurdan yine de sayılır.",
  optionChosen: "Tutar ve adres değişti.",
  optionRefused:
    "Bu ödeme yolu şu anda kullanılamıyor. Başka birini seçebilir veya aşağıda gösterildiği gibi ödeyebilirsiniz.",
  optionsFull:
    "Bu ödemenin izin verdiği kadar ödeme yolu seçtiniz. Bunlardan birini hâlâ seçebilirsiniz.",
  optionClosed: "Ödeme yolu şu anda değiştirilemiyor. Bu sayfa sıradaki adımı gösterir.",
  paymentFolded: "Ödeme için tutar ve adres",
  payBy: "Son ödeme:",
  timeLeft: "Kalan süre: {time}",
  timeLeftToPay: "Ödeme için kalan süre: {time}",
  dayTime: "{day}, {time}",

  walletPayWith: "{wallet} ile öde",
  walletPay: "Cüzdanınızla ödeyin",
  walletApps: "Bu sayfayı bir cüzdan uygulamasında aç",
  walletWaiting: "Cüzdanınız onayınızı istiyor. Tutarı ve adresi orada kontrol edin.",
  walletSent:
    "Cüzdanınız ödemeyi gönderdi. Ödeme, ağa ulaşır ulaşmaz burada görünür. Lütfen tekrar göndermeyin.",
  walletUnsubmitted:
    "Cüzdanınız ödemeyi gönderdi. İşlemi kaydedemedik ama yine de ağda buluruz. Lütfen tekrar göndermeyin.",
  walletRefused: "Cüzdanınızda reddettiniz, bu yüzden hiçbir şey gönderilmedi.",
  walletWrongNetwork:
    "Cüzdanınız {network} ağında değil, bu yüzden ondan bir şey göndermesini istemedik. Cüzdanınızda ağı değiştirip yeniden deneyin.",
  walletWrongToken:
    "Cüzdanınız bunun {network} ağındaki {token} olduğunu doğrulayamadı, bu yüzden ondan bir şey göndermesini istemedik. Bu sayfadaki adrese yine de ödeme yapabilirsiniz.",
  walletTooLittle:
    "Cüzdanınızın bu hesabında {amount} tutarından az var, bu yüzden ondan bir şey göndermesini istemedik.",
  walletSilent:
    "Cüzdanınız yanıt vermiyor. Açıp bakın: Bu ödeme orada gönderildi veya beklemede görünüyorsa lütfen yenisini göndermeyin. Görünmüyorsa bu sayfadaki adrese ödeme yapabilirsiniz.",
  walletFailed:
    "Cüzdanınız bir sorun bildirdi. Önce oraya bakın: Bu ödeme gönderildi veya beklemede görünüyorsa lütfen yenisini göndermeyin.",
  walletChanged:
    "Bu ödeme az önce değişti, bu yüzden cüzdanınızdan bir şey göndermesini istemedik. Önce bu sayfadaki tutarı kontrol edin.",
  walletOffline:
    "Güncel tutarı okuyamadık, bu yüzden cüzdanınızdan bir şey göndermesini istemedik. Lütfen birazdan yeniden deneyin.",
  awaitingHeadline: "Ödemenizi bekliyoruz",
  awaitingLead:
    "Zaten gönderdiniz mi? Lütfen iki kez göndermeyin: Ödemeniz burada görünecek. Bu sayfayı kapatıp geri dönebilirsiniz.",
  payAgain:
    "Cüzdanınız veya borsanız onu yine de tamamlanmış gösteriyorsa önce {contact} ile iletişime geçin ve bu referans kodunu belirtin: {reference}. Göstermiyorsa aşağıda yeniden ödeyebilirsiniz.",
  lookingLead:
    "Girdiğiniz işlemi arıyoruz. Bu genellikle birkaç dakika sürer. İşlemi bir saat içinde bulamazsak bu sayfada belirtilir.",
  lookingNext: "Lütfen yeniden ödemeyin. Bu sayfayı kapatıp geri dönebilirsiniz.",
  lookingOver:
    "Ödeme süresi bitti. Ödemeniz geç ulaştıysa {merchant} onu kabul edecek veya iade edecek.",
  lookingHeadline: "İşleminiz aranıyor",
  sentFailedHeadline: "İşleminiz başarısız oldu",
  enteredHeadline: "Ödemenizi henüz bulamadık",
  missingHeadline: "İşleminizi bulamıyoruz",
  missingNext:
    "Cüzdanınıza veya borsanıza bakın. Ödeme orada beklemede görünüyorsa bekleyin. Başarısız görünüyorsa para hâlâ sizdedir. Tamamlandı görünüyorsa {contact} ile iletişime geçin ve bu referans kodunu belirtin: {reference}.",
  enteredNext:
    "Başka bir işlemle mi ödediniz? Onun işlem kodunu aşağıya girin. Bununla mı ödediniz? {contact} ile iletişime geçin ve bu referans kodunu belirtin: {reference}.",
  goneHeadline: "Yeniden ödemeden önce cüzdanınıza bakın",
  goneLead:
    "Daha önce gördüğümüz bir ödeme artık ağda değil. Paranız kaybolmadı: Cüzdanınıza veya borsanıza bakın.",
  goneWait:
    "Orada gönderildi veya beklemede mi görünüyor? Bekleyin ve yeniden ödemeyin. Gönderdikten bir saat sonra hâlâ burada değilse {contact} ile iletişime geçin ve bu referans kodunu belirtin: {reference}.",
  goneFailed:
    "Orada başarısız mı görünüyor? O zaman para hâlâ sizdedir ve aşağıda yeniden ödeyebilirsiniz.",
  partlyPaidHeadline: "Ödemenizin bir kısmı ulaştı",
  partlyPaidLead:
    "Toplam: {payable}. {merchant} şimdiye kadar {received} aldı. Ödemeyi tamamlamak için kalan {remaining} tutarını gönderin.",
  partlyArrived: "Toplam: {payable}. {merchant} şimdiye kadar {received} aldı.",
  partlyPaidSent: "Kalanını zaten gönderdiniz mi? Lütfen iki kez göndermeyin: Burada görünecek.",
  partlyPaidElse:
    "Kalanını göndermeyecek misiniz? Ödeme süresi bitince paranızı buradan geri isteyebilirsiniz.",
  partlyPaidGone:
    "{merchant} şimdiye kadar {received} aldı. Daha önce gördüğümüz başka bir ödeme artık ağda değil. O para kaybolmadı: Cüzdanınıza veya borsanıza bakın.",
  partlyPaidFailed:
    "Orada başarısız mı görünüyor? O zaman o para hâlâ sizdedir ve kalan {remaining} tutarını aşağıdan gönderebilirsiniz.",
  confirmingHeadline: "Ödemeniz algılandı",
  confirmingLead:
    "Başka bir şey yapmanız gerekmez, bu sayfayı kapatabilirsiniz. Ağ ödemenizi onaylıyor. Tahmini süre: {wait}.",
  confirmationCount: "Onaylar: {current} / {required}",
  waitUnderMinute: "bir dakikadan az",
  waitAbout: "yaklaşık {time}",
  inReviewHeadline: "Ödeme bulundu, {merchant} inceliyor",
  inReviewAmountHeadline: "Farklı bir tutar ulaştı",
  inReviewLead:
    "{merchant} ödemenizi kabul edecek veya iade edecek. Karar bu sayfada görünecek. Lütfen o zamana kadar bir şey göndermeyin.",
  inReviewEntered:
    "{merchant} {arrived} aldı. Ödemeyi girdiğiniz işlem koduyla bulduk. Bu yüzden {merchant} önce bu siparişe ait olup olmadığını kontrol ediyor.",
  inReviewAmount: "{merchant} {payable} yerine {arrived} aldı.",
  inReviewByHand: "{merchant} {arrived} aldı. Bunun gibi ödemeler elle kontrol edilir.",
  paidHeadline: "Ödendi",
  paidLead: "Teşekkürler. {merchant} ödemenizi aldı.",
  overpaidHeadline: "Ödendi. {excess} fazla gönderdiniz",
  overpaidLead: "{merchant} ödemenizi aldı.",
  sumPaid: "Ödediğiniz",
  sumAsked: "Sipariş toplamı",
  sumExcess: "Fazlası",
  overpaidAction:
    "{excess} tutarını geri almak için {contact} ile iletişime geçin ve bu referans kodunu belirtin: {reference}.",
  paidLateHeadline: "Ödendi ve kabul edildi",
  paidLateLead: "Teşekkürler. {merchant} ödemenizi kabul etti. Başka bir şey yapmanız gerekmez.",
  paidLateOverpaidLead: "{merchant} ödemenizi kabul etti.",
  lateHeadline: "Ödemeniz süre bittikten sonra ulaştı",
  lateLead:
    "{merchant} {arrived} aldı ve ödemenizi kabul edecek veya iade edecek. Karar bu sayfada görünecek. Lütfen başka bir şey göndermeyin.",
  expiredHeadline: "Ödeme süresi bitti",
  expiredLead:
    "Henüz göndermediniz mi? Lütfen artık bir şey göndermeyin. {merchant} adlı satıcıdan yeni bir bağlantı isteyin.",
  expiredElse: "Lütfen şimdi bir şey göndermeyin.",
  newLink:
    "Ödeme süresi de bitti, bu yüzden lütfen şimdi bir şey göndermeyin. Yeni bir bağlantı için {contact} ile iletişime geçin ve bu referans kodunu belirtin: {reference}.",
  expiredSent:
    "Zaten gönderdiniz mi? Lütfen yeniden göndermeyin: Ödemeniz burada hâlâ görünebilir, bu yüzden bu sayfanın bağlantısını saklayın. Gönderdikten bir saat sonra hâlâ burada değil mi? {contact} ile iletişime geçin ve bu referans kodunu belirtin: {reference}.",
  paymentMoved:
    "{merchant} buraya gelen ödemeyi başka bir faturaya aktardı. Lütfen bu adrese bir şey göndermeyin. Bağlantısını {contact} adlı satıcıdan isteyin.",
  returnedHeadline: "Paranız geri gönderildi",
  returningHeadline: "İadeniz yolda",
  returnedLead:
    "{merchant} {returned} tutarını geri gönderdi. Lütfen şimdi bir şey göndermeyin. Hâlâ ödemek istiyor musunuz? {merchant} adlı satıcıdan yeni bir bağlantı isteyin.",
  expiredPartlyHeadline: "Yalnızca bir kısmı ödendi",
  expiredPartlyLead:
    "Toplam: {payable}. {merchant} {received} aldı. Ödeme süresi bitti, bu yüzden lütfen kalanını artık göndermeyin.",
  expiredPartlyNext:
    "Ulaşan {received} tutarı için {contact} ile iletişime geçin ve bu referans kodunu belirtin: {reference}.",
  canceledHeadline: "{merchant} tarafından iptal edildi",
  canceledLead: "{merchant} bu siparişi iptal etti. Lütfen bir şey göndermeyin.",
  canceledSent:
    "Zaten gönderdiniz mi? Ödemeniz burada görünecek ve o zaman iadesini isteyebilirsiniz. Gönderdikten bir saat sonra burada değilse {contact} ile iletişime geçin ve bu referans kodunu belirtin: {reference}.",
  notNeededLead: "{merchant} {arrived} aldı. Lütfen başka bir şey göndermeyin.",
  canceledPaidHeadline: "İptal edildi, ancak ödemeniz ulaştı",
  canceledPaidLead:
    "{merchant} bu siparişi ödemeniz ({arrived}) ulaşmadan önce iptal etmişti ve ödemenizi kabul edecek veya iade edecek. Karar bu sayfada görünecek. Lütfen başka bir şey göndermeyin.",
  cannotCheckHeadline: "Şu anda ağı kontrol edemiyoruz",
  cannotCheckSince: "Son kontrol: {time}.",
  cannotCheckLead:
    "Zaten gönderdiniz mi? Lütfen yeniden göndermeyin: Ödemeniz, {network} ağı yeniden okunabildiğinde bulunur.",
  cannotCheckOpen:
    "Henüz ödemediniz mi? En iyisi, ağı yeniden okuyabilmemizi beklemek. Bu arada süre biterse {merchant} adlı satıcıdan yeni bir bağlantı isteyin.",
  cannotCheckOver:
    "Henüz ödemediniz mi? Lütfen şimdi ödemeyin. {contact} adlı satıcıdan yeni bir bağlantı isteyin.",
  cannotCheckOverSent:
    "{network} ağının en son verilerini hâlâ bekliyoruz. Zaten gönderdiniz mi? Lütfen yeniden göndermeyin: Ödemeniz burada görünecek.",
  notAcceptedHeadline: "Şu anda bu yolla ödeyemezsiniz",
  notAccepted: "Lütfen {network} ağında {token} göndermeyin: {merchant} şu anda kabul etmiyor.",
  notAcceptedSent:
    "Zaten gönderdiniz mi? Paranız kaybolmadı: Satıcının ({merchant}) cüzdanına gider. {contact} ile iletişime geçin ve bu referans kodunu belirtin: {reference}.",
  notAcceptedElse: "Henüz ödemediniz mi? Başka bir ödeme yolu için {contact} ile iletişime geçin.",
  notAcceptedOptions: "Henüz ödemediniz mi? Aşağıda başka bir token veya ağ ile ödeyebilirsiniz.",
  cannotConfirmNow:
    "Ödemeniz bulundu, lütfen yeniden göndermeyin. {network} ağına şu anda ulaşamıyoruz, bu yüzden onay sayısı güncel olmayabilir. Bu sayfayı kapatıp geri dönebilirsiniz.",
  revertedHeadline: "Ağın ödemenizi yeniden onaylaması gerekiyor",
  revertedLead:
    "Lütfen yeniden ödemeyin. {network} ağı en yeni bloklarını değiştirdi, bu normaldir ve ödemenizi ikinci kez onaylaması gerekiyor. Bu genellikle birkaç dakika sürer. Paranız kaybolmadı.",
  revertedNext:
    "Bu sayfayı kapatıp geri dönebilirsiniz. Ödemeniz gönderdikten bir saat sonra hâlâ onaylanmadıysa {contact} ile iletişime geçin ve bu referans kodunu belirtin: {reference}.",
  reverted:
    "Bir şey göndermeden önce cüzdanınıza bakın: Ağ, daha önce burada görünen bir ödemeyi korumadı. Cüzdanınızda gönderildi veya beklemede göründüğü sürece lütfen yenisini göndermeyin.",
  transactionFailed:
    "Girdiğiniz işlem ağda başarısız oldu. Hiç {token} gönderilmedi: Para hâlâ sizde veya borsanızda.",
  contactIfLong:
    "Bir gün sonra hâlâ karar yok mu? {contact} ile iletişime geçin ve bu referans kodunu belirtin: {reference}.",
  contactOrRefund:
    "Bir gün sonra hâlâ karar yok mu veya iade mi istiyorsunuz? {contact} ile iletişime geçin ve bu referans kodunu belirtin: {reference}.",
  waitOrRefund: "İade edilebileceğinden emin olmak için adresinizi aşağıya bırakın.",

  hashQuestion: "Ödediniz, ama burada görünmüyor mu?",
  hashAnother: "Başka bir işlem kodu girin",
  hashLead:
    "İşlem kodunuzu (TxID veya hash) ya da blok gezginindeki bağlantısını yapıştırın. İşlemi {network} ağında arayalım.",
  hashLabel: "İşlem kodu (TxID, hash) veya bağlantı",
  hashSend: "Bul",
  hashReceived:
    "Teşekkürler. İşleminizi arıyoruz. Bu ödemeye ait olduğu anlaşılınca bu sayfada görünecek. Lütfen iki kez göndermeyin.",
  hashMalformed:
    "{problem} İşlem kodu (TxID veya hash) 64 karakterdir, başında 0x varsa 66. Cüzdanınızdan veya borsanızdan kopyalayıp aşağıdaki alana yapıştırın.",
  hashTooShort: "Bu çok kısa.",
  hashTooLong: "Bu çok uzun.",
  hashWrongCharacter:
    "Bu bir işlem kodu değil: Rakamlardan ve A ile F arasındaki harflerden başka karakterler içeriyor.",
  hashNotInLink: "Bu bağlantıda tek bir işlem kodu bulamıyoruz.",
  hashIsAddress: "Bu bir adres, işlem kodu değil.",
  hashTooMany:
    "Bize bildirdiğiniz işlemleri hâlâ kontrol ediyoruz. Sonuçları bekleyin veya {merchant} ile iletişime geçin.",

  hashSubmitted: "Bize bildirdiğiniz işlemler",
  hashLooking: "Bu işlemi arıyoruz.",
  hashUnknown:
    "Ağ bu işlemi henüz tanımıyor. Bir saat boyunca denemeye devam edeceğiz. İşlem kodunu cüzdanınızdaki veya borsanızdaki kodla karşılaştırın.",
  hashGivenUp: "Bu işlemi bir saat aradık ve bulamadık. İşlem kodunu yeniden girebilirsiniz.",
  hashDisplaced:
    "Bu işlemi bulamadık ve daha yeni birine yer açmak için aramayı bıraktık. Gerekirse işlem kodunu yeniden girin.",
  hashCounted: "Bulundu ve bu ödemeye sayıldı.",
  hashInReview: "Bulundu. Bu ödemeye ait olup olmadığına {merchant} karar verecek.",
  hashReverted:
    "Ağ bu işlemi henüz kesinleştirmedi. Cüzdanınızda gönderildi veya beklemede göründüğü sürece lütfen yenisini göndermeyin.",
  hashFailed: "Bu işlem ağda başarısız oldu, bu nedenle hiç {token} gönderilmedi.",
  hashOtherAddress:
    "Bu işlem satıcının ({merchant}) adresine değil, başka bir adrese gitti. Nereye gittiğine cüzdanınızda veya borsanızda bakın.",
  hashOtherToken:
    "Bu işlem {network} ağında {token} dışında bir şey gönderdi. {contact} ile iletişime geçin ve bu referans kodunu belirtin: {reference}.",
  hashTokenDisabled:
    "Şu anda {network} ağında {token} kabul edemiyoruz. {contact} ile iletişime geçin ve bu referans kodunu belirtin: {reference}.",
  hashTooSmall: "Bu işlemin tutarı, ödeme olarak sayılmak için çok küçük.",
  hashTooEarly: "Bu işlem bu ödemeden daha eski, bu nedenle bu ödemeye ait olamaz.",
  hashTooLate:
    "Bu işlem ödeme süresi bittikten çok sonra yapıldı. Bu ödemenin adresine gittiyse para satıcıdadır ({merchant}). {contact} ile iletişime geçin ve bu referans kodunu belirtin: {reference}.",
  hashNotForThis:
    "Bu işlem bu faturanın ödemesi değil. Aksini düşünüyorsanız {contact} ile iletişime geçin ve bu referans kodunu belirtin: {reference}.",

  refundAmount: "{amount} tutarını geri iste",
  refundNext:
    "Düğmeye basın ve kendi cüzdanınızın bir adresini ya da borsadaki {token} yatırma adresinizi ({network} ağı) girin. {merchant} iadeyi elle gönderir, yola çıktığını burada görürsünüz.",
  refundSoon: "Ağ ödemeyi onayladığında, birkaç dakika içinde buradan iade isteyebilirsiniz.",
  refundAsked:
    "{refund} tutarının iadesi istendi. {merchant} iadeyi elle gönderir, yola çıktığını burada görürsünüz. Birkaç gün sonra hâlâ bir şey yok mu? {contact} ile iletişime geçin ve bu referans kodunu belirtin: {reference}.",
  refundLead:
    "{merchant}, bu ödeme için gerekmeyen tutarı geri gönderebilir. Size ait bir adres girin: cüzdanınızın adresi veya borsadaki yatırma adresiniz. Borsanın ödemenizi gönderdiği adresi girmeyin: Oraya gönderilenler kaybolabilir.",
  refundAddressLabel: "{network} ağındaki kendi adresiniz",
  refundContinue: "Devam",
  refundCheck: "Bu sizin adresiniz mi?",
  refundCheckLead:
    "{merchant} tarafından {network} ağında bu adrese {amount} gönderilmesini istiyorsunuz. Her karakteri cüzdanınızla karşılaştırın: Yanlış adrese gönderilenler kaybolur ve adres sonradan değiştirilemez.",
  refundSend: "Evet, iade iste",
  refundChange: "Değiştir",
  refundReceived:
    "Teşekkürler. {merchant} isteğinizi aldı. İade yola çıktığında bu sayfada görünecek.",
  refundAlready:
    "Bu ödeme için zaten iade istendi ve biz onu değiştirmedik. İsteyen siz değilseniz hemen {merchant} ile iletişime geçin ve bu referans kodunu belirtin: {reference}.",
  refundNothing:
    "Bu işlemde iade edilecek bir tutar bulamadık. Bu sayfadaki en son onaylanmış ödemenizin işlem kodunu girin veya {merchant} ile iletişime geçin.",
  refundTooEarly:
    "Ağ ödemenizi hâlâ onaylıyor, bu genellikle birkaç dakika sürer. Lütfen iadeyi daha sonra yeniden isteyin. Bir gün içinde sonuç alamazsanız {merchant} ile iletişime geçin.",
  refundBadAddress: "Bu, {network} ağında bir adrese benzemiyor. Cüzdanınızdan yeniden kopyalayın.",
  refundAddressRefused:
    "Bu adrese yapılan iade size ulaşmaz. Kendi cüzdanınızın bir adresini girin.",
  refunds: "İadeler",
  refundRequested: "{amount}, {address} adresine: istendi.",
  refundSent: "{amount}, {address} adresine: {merchant} gönderdi. İşlemi kontrol ediyoruz.",
  refundConfirmed: "{amount}, {address} adresine: iade edildi.",
  refundRejected: "{amount}, {address} adresine: {merchant} reddetti. Neden: {reason}",
  refundWithdrawn:
    "{amount}, {address} adresine: geri çekildi, çünkü ödeme yine de gerekiyor veya artık ağda değil.",

  details: "Ayrıntılar",
  receipt: "Makbuz",
  merchant: "Satıcı",
  asked: "İstenen tutar",
  invoiced: "Sipariş toplamı",
  received: "Ulaşan tutar",
  excess: "Fazla ödenen",
  network: "Ağ",
  reference: "Referans kodu",
  paidAt: "Ödeme tarihi",
  expires: "Son ödeme",
  expired: "Süre bitti",
  transaction: "İşlem",
  print: "Makbuzu yazdır",
  questions: "Bu ödemeyle ilgili sorunuz mu var?",
  askMerchant: "{merchant} ile iletişime geçin ve bu referans kodunu belirtin:",
  mailSubject: "Ödeme {reference}",
  neverAsks: "Bu sayfa, cüzdanınızın özel anahtarını veya kurtarma ifadesini asla istemez.",

  downloadReceipt: "Makbuzu indir",
  verifyTitle: "Makbuzu doğrula",
  verifyLead:
    "İmzalı bir makbuzu veya ödeme isteğini yapıştırın. İmza, metnin bu siteden gelip gelmediğini ve değiştirilip değiştirilmediğini gösterir.",
  verifyLabel: "İmzalı metin",
  verifySend: "Doğrula",
  verifyReceipt: "Bu makbuz gerçektir",
  verifyRequest: "Bu ödeme isteği gerçektir",
  verifyRequestLead:
    "Bu arada ödenmiş veya iptal edilmiş olabilir. Bir şey göndermeden önce ödeme sayfasını açın, adresi ve tutarı cüzdanınızda gördüklerinizle karşılaştırın.",
  verifyExpired: "Süresi doldu. Lütfen hiçbir şey göndermeyin.",
  verifyOpen: "Ödemeyi aç",
  verifyRefused: "Bu metni doğrulayamıyoruz",
  verifyChanged: "Metin değiştirilmiş veya bir kısmı eksik. Tamamını yeniden kopyalayın.",
  verifyUnknown: "Bu site tarafından imzalanmamış. Başka bir siteden geliyorsa orada doğrulayın.",
  verifyNotSigned:
    "Bu imzalı bir metin değil. İmzalı metin, harf ve rakamlardan oluşan, içinde iki adet nokta işareti bulunan uzun bir satırdır.",
  verifyAddress: "Adres",
  signedBy: "İmzalayan",
  signedOn: "İmza tarihi",

  linkTitle: "Ödeme: {merchant}",
  linkAmount: "Tutar ({currency})",
  linkBetween: "{min} ile {max} arasında",
  linkAtLeast: "En az {min}",
  linkAtMost: "En çok {max}",
  linkContinue: "Ödemeye devam et",
  linkOption: "Token ve ağ",
  linkBadOption: "Bu ödeme yöntemi burada kullanılamıyor. Lütfen listeden birini seçin.",
  linkBadAmount: "Bu tutar burada kullanılamıyor. Lütfen kontrol edip 12.50 gibi yazın.",
  linkBroken:
    "Ödeme başlatılamıyor, çünkü bağlantının önce satıcı tarafından düzeltilmesi gerekiyor. Hiçbir şey gönderilmedi. Lütfen {merchant} ile iletişime geçin.",
  linkUnavailable:
    "Ödeme şu anda başlatılamıyor. Hiçbir şey gönderilmedi. Lütfen daha sonra yeniden deneyin veya {merchant} ile iletişime geçin.",
  linkScan: "Taratıp ödeyin: {merchant}",
  checkAgain: "Yeniden kontrol et",
  back: "Geri dön: {merchant}",
  language: "Dil",
  connectionLost: "Bu sayfa güncel olmayabilir. Yenilemeye çalışıyoruz.",
  notFoundHeadline: "Bu ödeme bağlantısını bulamıyoruz",
  notFoundLead:
    "Bağlantının tam olduğunu kontrol edin veya onu veren mağazaya sorun. Zaten ödediyseniz lütfen yeniden ödemeyin: Mağazaya sorun.",
  unavailableHeadline: "Şu anda kontrol edemiyoruz",
  unavailableLead:
    "Zaten ödediniz mi? Lütfen yeniden ödemeyin: Her şey yeniden çalışır çalışmaz ödemeniz aranır. Bir dakika sonra yeniden kontrol edin. Bu sayfa bir saat içinde geri gelmezse mağazaya sorun.",
  busyHeadline: "Bir dakika lütfen",
  busyLead:
    "Bu sayfa az önce çok sık açıldı, bu nedenle kısa bir ara veriyoruz. Zaten ödediniz mi? Lütfen yeniden ödemeyin: Ödemenizi aramayı sürdürüyoruz. Bekleme süresi: {time}. Ardından yeniden kontrol edin. İşlem kodu giriyorduysanız kodu o zaman yeniden girin.",
  refusedHeadline: "İşe yaramadı",
  refusedLead:
    "Tarayıcınızın gönderdiğini okuyamadık, hiçbir şey değişmedi. Ödemenize geri dönüp yeniden deneyin.",
  failedHeadline: "Bizim tarafımızda bir sorun oluştu",
  failedLead:
    "Zaten ödediniz mi? Lütfen yeniden ödemeyin: Ödemenizi ağda aramayı sürdürüyoruz. Bir dakika sonra yeniden kontrol edin.",
  formNotReceived:
    "Bir işlem kodu girdiyseniz kod bize ulaşmamış olabilir. Lütfen ödemeye geri dönün, işlem orada görünmüyorsa kodu yeniden girin.",
  failedReference: "Bu sorun sürerse şu kodu satıcıya gönderin: {reference}",
  homeTitle: "Ödeme sayfaları",
  homeHeadline: "Satıcılar ödemelerini burada alır",
  homeLead:
    "Bu sunucu, kripto para ile ödeme alan satıcıların ödeme sayfalarını gösterir. Ödeme yapmak için satıcının verdiği bağlantının tamamını açın.",
  homeDocs: "Geliştiriciler için: API belgeleri",
  testRibbon: "Test ağı: gerçek para değil",
};
