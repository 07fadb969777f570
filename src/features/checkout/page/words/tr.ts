import type { Catalogue } from "./en.ts";

/**
 * The payers' texts in Turkish. Machine translation of en.ts, not yet reviewed by a native speaker. Values take no
 * suffixes, because the vowels of a suffix depend on the value.
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
  arrives:
    "Son ondalık basamağına kadar tam olarak {amount} ulaşmalıdır. Borsadan ödüyorsanız borsanın çekim ücretini üzerine ekleyin.",
  onlyHere:
    "Yalnızca {network} ağında {token} gönderin. Bunun dışındaki gönderimler satıcıya ulaşmaz ve geri alınamaz.",
  ownCoin: "Ağ ücreti için ayrıca biraz {coin} gerekir.",
  unnamedCoin: "Ağ ücreti için ayrıca {network} ağının kendi parasından biraz gerekir.",
  addressOn: "{network} ağındaki adres",
  copyAmount: "Tutarı kopyala",
  copyAddress: "Adresi kopyala",
  copied: "Kopyalandı",
  amountCopied: "Tutar kopyalandı",
  addressCopied: "Adres kopyalandı",
  copyFailed: "Kopyalanamadı. Metni kendiniz seçin",
  openWallet: "Cüzdanda aç",
  showCode: "QR kodunu göster",
  scanAddress: "{network} ağındaki adres, tutar olmadan. {amount} tutarını kendiniz girin.",
  scanAll: "{network} ağındaki adres, token ve tutar.",
  qrLabel: "QR kodu: {network} ağında {address} adresine {amount} ödeme",
  qrAddressLabel: "QR kodu: {network} ağındaki {address} adresi",
  otherCode: "Tutarı da içeren bir kod kullan",
  scanCheck:
    "Bazı cüzdanlar bu kodu doğru okumaz. Onaylamadan önce cüzdanınızda sonu {ending} olan bir alıcı ve {amount} tutarı görünmelidir. Başka bir şey görünüyorsa göndermeyin, bunun yerine adresi kullanın.",
  payBy: "Son ödeme:",
  timeLeft: "Kalan süre: {time}",
  timeLeftToPay: "Ödeme için kalan süre: {time}",
  dayTime: "{day}, {time}",

  awaitingHeadline: "Ödemenizi bekliyoruz",
  awaitingLead: "Ödemeniz ağa ulaşır ulaşmaz burada görünür.",
  partlyPaidHeadline: "Ödemenizin bir kısmı ulaştı",
  partlyPaidLead:
    "Toplam: {payable}. Ulaşan: {received}. Ödemeyi tamamlamak için kalan {remaining} tutarını gönderin.",
  confirmingHeadline: "Ödemeniz algılandı",
  confirmingLead:
    "Ağ ödemenizi onaylıyor. Tahmini süre: {wait}. Başka bir şey yapmanız gerekmez, bu sayfayı kapatabilirsiniz.",
  confirmationCount: "Onaylar: {current} / {required}",
  waitUnderMinute: "bir dakikadan az",
  waitAbout: "yaklaşık {time}",
  inReviewHeadline: "Ödeme bulundu, satıcının onayı bekleniyor",
  inReviewLead:
    "{merchant} tarafından henüz kabul edilmemiş bir ödeme bulduk. Lütfen yeniden göndermeyin: Karar bu sayfada görünecek.",
  paidHeadline: "Ödendi",
  paidLead: "Teşekkürler. {merchant} ödemenizi aldı.",
  overpaidHeadline: "Ödendi, ancak fazla gönderdiniz",
  overpaidLead: "{received} ulaştı. Fazla gönderilen: {excess}. {merchant} ödemenizi aldı.",
  overpaidAction:
    "Farkın iadesi için {merchant} ile iletişime geçin ve aşağıdaki referans kodunu belirtin.",
  paidLateHeadline: "Geç ödendi",
  paidLateLead:
    "Ödemeniz süre dolduktan sonra ulaştı ve {merchant} tarafından kabul edildi. Başka bir şey yapmanız gerekmez.",
  paidLateOverpaidLead:
    "Ödemeniz süre dolduktan sonra ulaştı ve {merchant} tarafından kabul edildi. {received} ulaştı. Fazla gönderilen: {excess}.",
  lateHeadline: "Ödemeniz geç ulaştı",
  lateLead:
    "Süre dolduktan sonra ulaştığı için ne yapılacağına {merchant} karar verecek. Lütfen başka bir şey göndermeyin.",
  expiredHeadline: "Bu ödemenin süresi doldu",
  expiredLead:
    "Lütfen bu ödemenin adresine artık bir şey göndermeyin. {merchant} adlı satıcıdan yeni bir bağlantı isteyin.",
  expiredSent:
    "Zaten gönderdiniz mi? Ödemenizi yine de buluruz. Bu sayfanın bağlantısını saklayın. Ödemeniz yakında görünmezse {merchant} ile iletişime geçin ve aşağıdaki referans kodunu belirtin.",
  expiredPartlyHeadline: "Süre doldu, yalnızca bir kısmı ödendi",
  expiredPartlyLead:
    "Toplam: {payable}. Ulaşan: {received}. Süre doldu, lütfen kalanını şimdi göndermeyin.",
  canceledHeadline: "Satıcı tarafından iptal edildi",
  canceledLead:
    "{merchant} bu ödemeyi iptal etti. Lütfen bu ödemenin adresine bir şey göndermeyin.",
  canceledPaidHeadline: "İptal edildi, ancak bir ödeme ulaştı",
  canceledPaidLead:
    "{merchant} isteği iptal ettiği hâlde bir ödeme ulaştı. {merchant} ödemeyi inceleyip ne yapılacağına karar verecek. Lütfen başka bir şey göndermeyin.",
  cannotCheckHeadline: "Şu anda ağı kontrol edemiyoruz",
  cannotCheckLead:
    "Ödemeniz güvende: {network} ağı yeniden okunabildiğinde gönderdiğiniz her şeyi buluruz. Lütfen iki kez göndermeyin.",
  cannotCheckOpen:
    "Henüz ödemediniz mi? Hâlâ ödeyebilirsiniz: Önemli olan, ağın ödemeyi ne zaman kaydettiğidir.",
  cannotCheckOver:
    "Henüz ödemediniz mi? Lütfen şimdi ödemeyin: Süre doldu veya dolmak üzere. Bir dakika sonra yeniden kontrol edin.",
  notAccepted:
    "{merchant} şu anda {network} ağında bu token ile ödeme kabul etmiyor, lütfen bir şey göndermeyin. Zaten gönderdiniz mi? {merchant} ile iletişime geçin ve aşağıdaki referans kodunu belirtin.",
  cannotConfirmNow:
    "{network} ağı şu anda okunamıyor, bu nedenle onay sayısı güncel olmayabilir. Ödemeniz güvende.",
  revertedHeadline: "Ödemeniz şimdilik zincirden çıktı",
  revertedLead:
    "{network} ağı en yeni bloklarını değiştirdi ve ödemeniz bu bloklardan birindeydi. Normalde birkaç dakika içinde geri döner. Lütfen yeniden göndermeyin.",
  revertedNext:
    "Bu sayfayı kapatıp daha sonra yeniden bakabilirsiniz. Ödemeniz geri dönmezse {merchant} ile iletişime geçin ve aşağıdaki referans kodunu belirtin.",
  reverted:
    "Ağ, daha önce burada görünen bir ödemeyi geri aldı ve ödeme geri dönmedi. Bir şey göndermeden önce cüzdanınıza bakın: Ödeme orada gönderildi veya beklemede görünüyorsa yenisini göndermeyin.",
  transactionFailed:
    "Son bildirilen işlem ağda başarısız oldu ve hiçbir para aktarılmadı. Cüzdanınızda da başarısız olarak görünmelidir.",
  contact: "{merchant} ile iletişime geçin ve aşağıdaki referans kodunu belirtin.",
  lastChecked: "Son kontrol",
  never: "Henüz yapılmadı",

  hashQuestion: "Ödediniz, ama burada görünmüyor mu?",
  hashLead:
    "İşlem kodunu (hash) veya blok gezginindeki bağlantısını yapıştırın. İşlemi {network} ağında arayalım.",
  hashLabel: "İşlem kodu (TxID, hash) veya bağlantı",
  hashSend: "Bul",
  hashReceived:
    "Teşekkürler. İşleminizi arıyoruz. Bu ödemeye ait olduğu anlaşılınca bu sayfada görünecek. Lütfen iki kez göndermeyin.",
  hashMalformed:
    "Bu bir işlem koduna benzemiyor. Kod, rakamlardan ve a ile f arasındaki harflerden oluşan 64 karakterdir ve 0x ile başlayabilir. Cüzdanınızdan veya borsanızdan kopyalayıp yeniden yapıştırın.",
  hashTooMany:
    "Bize bildirdiğiniz işlemleri hâlâ kontrol ediyoruz. Sonuçları bekleyin veya satıcıyla iletişime geçin.",

  hashSubmitted: "Bize bildirdiğiniz işlemler",
  hashLooking: "Bu işlemi arıyoruz.",
  hashUnknown:
    "Ağ bu işlemi henüz tanımıyor. Bir saat boyunca denemeye devam edeceğiz. Lütfen kodu doğru kopyaladığınızı kontrol edin.",
  hashGivenUp: "Bu işlemi bulamıyoruz. İşlem artık ağdaysa işlem kodunu yeniden girin.",
  hashDisplaced:
    "Bu işlemi bulamadık ve daha yeni birine yer açmak için aramayı bıraktık. Gerekirse işlem kodunu yeniden girin.",
  hashCounted: "Bulundu ve bu ödemeye sayıldı.",
  hashInReview: "Bulundu. Bu ödemeye ait olup olmadığına {merchant} karar verecek.",
  hashReverted:
    "Ağ, bu işlemin bulunduğu bloğu değiştirdi. Cüzdanınızda gönderildi veya beklemede göründüğü sürece lütfen yenisini göndermeyin.",
  hashFailed: "Bu işlem ağda başarısız oldu, bu nedenle hiç {token} gönderilmedi.",
  hashOtherAddress:
    "Bu işlem, bu ödemenin adresine bir şey göndermedi. Nereye gittiğini cüzdanınızdan kontrol edin.",
  hashOtherToken:
    "Bu işlem {network} ağında {token} yerine başka bir şey gönderdi, bu nedenle sayılmaz. {merchant} ile iletişime geçin ve referans kodunu belirtin.",
  hashTokenDisabled:
    "Şu anda {network} ağında {token} kabul edemiyoruz. {merchant} ile iletişime geçin ve referans kodunu belirtin.",
  hashTooSmall: "Bu işlemin tutarı, ödeme olarak sayılmak için çok küçük.",
  hashTooEarly: "Bu işlem bu ödemeden daha eski, bu nedenle bu ödemeye ait olamaz.",
  hashTooLate:
    "Süre çok önce dolduğu için bu işlemi eşleştiremiyoruz. {merchant} ile iletişime geçin ve referans kodunu belirtin.",
  hashNotForThis:
    "Bu işlem bu faturanın ödemesi değil. Aksini düşünüyorsanız {merchant} ile iletişime geçin ve referans kodunu belirtin.",

  details: "Ayrıntılar",
  receipt: "Makbuz",
  merchant: "Satıcı",
  asked: "Ödenecek tutar",
  invoiced: "Fatura tutarı",
  received: "Ulaşan tutar",
  excess: "Fazla ödenen",
  network: "Ağ",
  reference: "Referans kodu",
  paidAt: "Ödeme tarihi",
  expires: "Son ödeme",
  expired: "Süre dolumu",
  transaction: "İşlem",
  print: "Makbuzu yazdır",
  questions: "Bu ödemeyle ilgili sorunuz mu var?",
  askMerchant: "{merchant} ile iletişime geçin ve bu referans kodunu belirtin:",
  mailSubject: "Ödeme {reference}",
  neverAsks: "Bu sayfa, cüzdanınızın özel anahtarını veya kurtarma ifadesini asla istemez.",

  downloadReceipt: "İmzalı makbuzu indir",
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

  checkAgain: "Yeniden kontrol et",
  back: "Geri dön: {merchant}",
  language: "Dil",
  connectionLost: "Bu sayfa güncel olmayabilir. Yenilemeye çalışıyoruz.",
  notFoundHeadline: "Bu ödemeyi bulamıyoruz",
  notFoundLead: "Bağlantıyı kontrol edin veya satıcıdan yeni bir bağlantı isteyin.",
  unavailableHeadline: "Şu anda kontrol edemiyoruz",
  unavailableLead:
    "Ödemeniz güvende. Biraz bekleyip yeniden kontrol edin. Lütfen iki kez göndermeyin.",
  busyHeadline: "Bir dakika lütfen",
  busyLead:
    "Bu sayfa az önce çok sık açıldı, bu nedenle kısa bir ara veriyoruz. Ödemeniz güvende. Bekleme süresi: {time}. Ardından yeniden kontrol edin. İşlem kodu giriyorduysanız kodu o zaman yeniden girin. Lütfen iki kez ödeme yapmayın.",
  refusedHeadline: "İşe yaramadı",
  refusedLead:
    "Tarayıcınızın gönderdiğini okuyamadık, hiçbir şey değişmedi. Ödemenize geri dönüp yeniden deneyin.",
  failedHeadline: "Bizim tarafımızda bir sorun oluştu",
  failedLead:
    "Ödediyseniz ödemeniz güvende: Onu ağda buluruz. Bir dakika sonra yeniden kontrol edin ve lütfen iki kez göndermeyin.",
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
