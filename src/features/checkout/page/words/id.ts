import type { Catalogue } from "./en.ts";

/**
 * The payers' texts in Indonesian. Machine translation of en.ts, not yet reviewed by a native speaker. Its texts are
 * those of en.ts with the digest 8b303c81acb1.
 */
export const id: Catalogue = {
  lang: "id",
  dir: "ltr",
  name: "Bahasa Indonesia",

  payTitle: "Bayar {amount} ke {merchant}",
  stateTitle: "{headline} · {merchant}",
  payTo: "Pembayaran ke",
  purpose: "Keterangan",
  order: "Pesanan",
  amountToPay: "Jumlah yang harus dibayar",
  stillToPay: "Sisa pembayaran",
  onNetwork: "di jaringan {network}",
  price: "Harga: {amount}",
  lastDigits:
    "Kami mengenali pembayaran Anda dari angka-angka terakhir, jadi mohon jangan membulatkan jumlahnya.",
  twoDecimalsShared:
    "Dompet Anda hanya menerima dua desimal? Gunakan dompet lain, atau kirim {rounded} dan masukkan ID transaksi di halaman ini: {merchant} akan mencatatnya untuk pembayaran ini.",
  twoDecimalsOwn: "Dompet Anda hanya menerima dua desimal? Kalau begitu, kirim {rounded}.",
  arrives:
    "Jumlah yang diterima harus tepat {amount}. Jika exchange Anda memotong biaya dari jumlah itu, tambahkan biayanya.",
  onlyHere:
    "Kirim hanya {token} di jaringan {network}. Kiriman lain tidak akan sampai ke penjual dan tidak dapat dikembalikan.",
  ownCoin: "Dari dompet Anda sendiri, Anda juga memerlukan sedikit {coin} untuk biaya jaringan.",
  unnamedCoin:
    "Dari dompet Anda sendiri, Anda juga memerlukan sedikit koin bawaan jaringan {network} untuk biaya jaringan.",
  addressOn: "Alamat di jaringan {network}",
  copyAmount: "Salin jumlah",
  copyAddress: "Salin alamat",
  copied: "Disalin",
  amountCopied: "Jumlah disalin",
  addressCopied: "Alamat disalin",
  copyFailed: "Tidak dapat menyalin. Pilih teksnya",
  openWallet: "Buka di dompet",
  showCode: "Tampilkan kode QR",
  hideCode: "Sembunyikan kode QR",
  scanAddress: "Alamat di jaringan {network}, tanpa jumlah. Masukkan sendiri {amount}.",
  scanAll: "Alamat, token, dan jumlah di jaringan {network}.",
  qrLabel: "Kode QR: bayar {amount} di jaringan {network} ke {address}",
  qrAddressLabel: "Kode QR: alamat {address} di jaringan {network}",
  otherCode: "Gunakan kode yang memuat jumlah",
  scanCheck:
    "Tidak semua dompet membaca kode ini dengan benar. Sebelum konfirmasi, dompet Anda harus menampilkan alamat penerima yang berakhiran {ending} dan jumlah {amount}. Jika yang tampil berbeda, jangan kirim dan gunakan alamatnya saja.",
  otherOptions: "Bayar dengan token atau jaringan lain",
  optionsLead:
    "Setiap pilihan punya jumlah dan alamat sendiri. Sudah mengirim sesuatu? Tunggu saja: kiriman itu tetap dihitung, dengan kurs yang ditunjukkan kepada Anda.",
  optionChosen: "Jumlah dan alamatnya telah berubah.",
  optionRefused:
    "Cara pembayaran itu sedang tidak tersedia. Anda dapat memilih yang lain atau membayar seperti di bawah ini.",
  optionsFull:
    "Anda sudah memilih sebanyak cara yang dimungkinkan untuk pembayaran ini. Anda masih dapat memilih salah satunya.",
  optionClosed:
    "Cara pembayaran tidak dapat diubah sekarang. Halaman ini menunjukkan langkah berikutnya.",
  paymentFolded: "Jumlah dan alamat untuk membayar",
  payBy: "Bayar sebelum:",
  timeLeft: "Sisa waktu: {time}",
  timeLeftToPay: "Sisa waktu pembayaran: {time}",
  dayTime: "{day}, {time}",

  walletPayWith: "Bayar dengan {wallet}",
  walletPay: "Bayar dengan dompet Anda",
  walletApps: "Buka halaman ini di aplikasi dompet",
  walletWaiting: "Dompet Anda meminta konfirmasi. Periksa jumlah dan alamatnya di sana.",
  walletSent:
    "Dompet Anda telah mengirim pembayaran. Pembayaran muncul di sini begitu diterima jaringan. Mohon jangan kirim lagi.",
  walletUnsubmitted:
    "Dompet Anda telah mengirim pembayaran. Kami tidak dapat mencatat transaksinya, tetapi kami tetap akan menemukannya di jaringan. Mohon jangan kirim lagi.",
  walletRefused: "Anda menolaknya di dompet, jadi tidak ada yang dikirim.",
  walletWrongNetwork:
    "Dompet Anda tidak berada di jaringan {network}, jadi kami tidak memintanya mengirim apa pun. Ganti jaringannya, lalu coba lagi.",
  walletWrongToken:
    "Dompet Anda tidak dapat memastikan bahwa ini {token} di jaringan {network}, jadi kami tidak memintanya mengirim apa pun. Anda tetap dapat membayar ke alamat di halaman ini.",
  walletTooLittle:
    "Saldo akun dompet ini kurang dari {amount}, jadi kami tidak memintanya mengirim apa pun.",
  walletSilent:
    "Dompet Anda tidak menjawab. Buka dan periksa: jika pembayaran ini terlihat terkirim atau tertunda di sana, mohon jangan kirim yang lain. Jika tidak, Anda dapat membayar ke alamat di halaman ini.",
  walletFailed:
    "Dompet Anda melaporkan masalah. Periksa dahulu di sana: jika pembayaran ini terlihat terkirim atau tertunda, mohon jangan kirim yang lain.",
  walletChanged:
    "Pembayaran ini baru saja berubah, jadi kami tidak meminta dompet Anda mengirim apa pun. Periksa dahulu jumlahnya di halaman ini.",
  walletOffline:
    "Kami tidak dapat membaca jumlah terkini, jadi kami tidak meminta dompet Anda mengirim apa pun. Silakan coba lagi sebentar lagi.",
  awaitingHeadline: "Menunggu pembayaran Anda",
  awaitingLead:
    "Sudah mengirim? Mohon jangan kirim dua kali: pembayaran Anda akan muncul di sini. Anda boleh menutup halaman ini dan kembali lagi.",
  payAgain:
    "Jika dompet atau exchange Anda tetap menampilkannya sebagai selesai, hubungi {contact} dan sebutkan kode referensi ini: {reference}. Jika tidak, Anda boleh membayar lagi di bawah.",
  lookingLead:
    "Kami sedang mencari transaksi yang Anda masukkan, biasanya perlu beberapa menit. Jika tidak kami temukan dalam satu jam, halaman ini akan memberitahukannya.",
  lookingNext: "Mohon jangan membayar lagi. Anda boleh menutup halaman ini dan kembali lagi.",
  lookingOver:
    "Waktu untuk membayar sudah habis. Jika pembayaran Anda masuk terlambat, {merchant} akan menerimanya atau mengembalikan dananya.",
  lookingHeadline: "Mencari transaksi Anda",
  sentFailedHeadline: "Transaksi Anda gagal",
  enteredHeadline: "Kami belum menemukan pembayaran Anda",
  missingHeadline: "Kami tidak menemukan transaksi Anda",
  missingNext:
    "Periksa dompet atau exchange Anda. Jika pembayaran berstatus tertunda, tunggu. Jika berstatus gagal, uangnya masih ada pada Anda. Jika berstatus selesai, hubungi {contact} dan sebutkan kode referensi ini: {reference}.",
  enteredNext:
    "Anda membayar dengan transaksi lain? Masukkan ID-nya di bawah. Anda membayar dengan yang ini? Hubungi {contact} dan sebutkan kode referensi ini: {reference}.",
  goneHeadline: "Periksa dompet Anda sebelum membayar lagi",
  goneLead:
    "Pembayaran yang sempat kami lihat tidak lagi ada di jaringan. Uang Anda tidak hilang: periksa dompet atau exchange Anda.",
  goneWait:
    "Di sana berstatus terkirim atau tertunda? Tunggu dan jangan membayar lagi. Jika satu jam setelah dikirim masih belum ada di sini, hubungi {contact} dan sebutkan kode referensi ini: {reference}.",
  goneFailed:
    "Di sana berstatus gagal? Berarti uangnya masih ada pada Anda, dan Anda boleh membayar lagi di bawah.",
  partlyPaidHeadline: "Sebagian pembayaran Anda sudah masuk",
  partlyPaidLead:
    "{merchant} menerima {received} dari {payable}. Kirim sisa {remaining} untuk menyelesaikan pembayaran.",
  partlyArrived: "Sejauh ini {merchant} menerima {received} dari {payable}.",
  partlyPaidSent:
    "Sudah mengirim sisanya? Mohon jangan kirim dua kali: sisanya akan muncul di sini.",
  partlyPaidElse:
    "Tidak mengirim sisanya? Setelah waktu untuk membayar habis, Anda dapat meminta uang Anda kembali di sini.",
  partlyPaidGone:
    "{merchant} menerima {received}. Pembayaran lain yang sempat kami lihat tidak lagi ada di jaringan. Uang itu tidak hilang: periksa dompet atau exchange Anda.",
  partlyPaidFailed:
    "Di sana berstatus gagal? Berarti uang itu masih ada pada Anda, dan Anda boleh mengirim sisa {remaining} di bawah.",
  confirmingHeadline: "Pembayaran terdeteksi",
  confirmingLead:
    "Anda tidak perlu melakukan apa pun lagi dan boleh menutup halaman ini. Jaringan sedang mengonfirmasi pembayaran Anda. Perkiraan waktu: {wait}.",
  confirmationCount: "Konfirmasi: {current} dari {required}",
  waitUnderMinute: "kurang dari satu menit",
  waitAbout: "sekitar {time}",
  inReviewHeadline: "Pembayaran ditemukan, menunggu {merchant}",
  inReviewAmountHeadline: "Jumlah yang masuk berbeda",
  inReviewLead:
    "{merchant} akan menerima pembayaran Anda atau mengembalikan dananya. Keputusannya akan muncul di halaman ini. Mohon jangan kirim apa pun sampai saat itu.",
  inReviewEntered:
    "{merchant} menerima {arrived}. Kami menemukannya lewat ID transaksi yang Anda masukkan, jadi {merchant} memeriksa dulu apakah itu untuk pesanan ini.",
  inReviewAmount: "{merchant} menerima {arrived}, bukan {payable}.",
  inReviewByHand: "{merchant} menerima {arrived}. Pembayaran seperti ini diperiksa secara manual.",
  paidHeadline: "Lunas",
  paidLead: "Terima kasih. {merchant} sudah menerima pembayaran Anda.",
  overpaidHeadline: "Lunas. Anda mengirim {excess} terlalu banyak",
  overpaidLead: "{merchant} sudah menerima pembayaran Anda.",
  sumPaid: "Anda membayar",
  sumAsked: "Total pesanan",
  sumExcess: "Kelebihan",
  overpaidAction:
    "Untuk mendapatkan kembali {excess}, hubungi {contact} dan sebutkan kode referensi ini: {reference}.",
  paidLateHeadline: "Dibayar dan diterima",
  paidLateLead:
    "Terima kasih. {merchant} sudah menyetujui pembayaran Anda. Anda tidak perlu melakukan apa pun lagi.",
  paidLateOverpaidLead: "{merchant} sudah menyetujui pembayaran Anda.",
  lateHeadline: "Pembayaran Anda masuk setelah waktu habis",
  lateLead:
    "{merchant} menerima {arrived} dan akan menerima pembayaran Anda atau mengembalikan dananya. Keputusannya akan muncul di halaman ini. Mohon jangan kirim apa pun lagi.",
  expiredHeadline: "Waktu untuk membayar sudah habis",
  expiredLead:
    "Belum mengirim? Mohon jangan kirim apa pun sekarang. Mintalah tautan baru kepada {merchant}.",
  expiredElse: "Mohon jangan kirim apa pun sekarang.",
  newLink:
    "Waktu untuk membayar juga sudah habis, jadi mohon jangan kirim apa pun sekarang. Mintalah tautan baru kepada {contact} dan sebutkan kode referensi ini: {reference}.",
  expiredSent:
    "Sudah mengirim? Mohon jangan kirim lagi: pembayaran Anda masih dapat muncul di sini, jadi simpan tautan halaman ini. Masih belum ada di sini satu jam setelah dikirim? Hubungi {contact} dan sebutkan kode referensi ini: {reference}.",
  paymentMoved:
    "{merchant} telah memindahkan pembayaran yang masuk di sini ke tagihan lain. Mohon jangan kirim apa pun ke alamat ini. Mintalah tautannya kepada {contact}.",
  returnedHeadline: "Uang Anda telah dikirim kembali",
  returningHeadline: "Pengembalian dana Anda sedang dikirim",
  returnedLead:
    "{merchant} telah mengirim kembali {returned}. Mohon jangan kirim apa pun sekarang. Masih ingin membayar? Mintalah tautan baru kepada {merchant}.",
  expiredPartlyHeadline: "Hanya sebagian yang dibayar",
  expiredPartlyLead:
    "{merchant} menerima {received} dari {payable}. Waktu untuk membayar sudah habis, jadi mohon jangan lagi mengirim sisanya.",
  expiredPartlyNext:
    "Hubungi {contact} tentang {received} yang sudah masuk dan sebutkan kode referensi ini: {reference}.",
  canceledHeadline: "Dibatalkan oleh {merchant}",
  canceledLead: "{merchant} membatalkan pesanan ini. Mohon jangan kirim apa pun.",
  canceledSent:
    "Sudah mengirim? Pembayaran akan muncul di sini, lalu Anda dapat memintanya kembali. Jika satu jam setelah dikirim belum ada di sini, hubungi {contact} dan sebutkan kode referensi ini: {reference}.",
  notNeededLead: "{merchant} menerima {arrived}. Mohon jangan kirim apa pun lagi.",
  canceledPaidHeadline: "Dibatalkan, tetapi pembayaran Anda masuk",
  canceledPaidLead:
    "{merchant} membatalkan pesanan ini sebelum {arrived} dari Anda masuk, dan akan menerima pembayaran Anda atau mengembalikan dananya. Keputusannya akan muncul di halaman ini. Mohon jangan kirim apa pun lagi.",
  cannotCheckHeadline: "Kami tidak dapat memeriksa jaringan saat ini",
  cannotCheckSince: "Terakhir diperiksa: {time}.",
  cannotCheckLead:
    "Sudah mengirim? Mohon jangan kirim lagi: pembayaran Anda akan ditemukan begitu jaringan {network} dapat dibaca lagi.",
  cannotCheckOpen:
    "Belum membayar? Sebaiknya tunggu sampai kami dapat membaca jaringan lagi. Jika sementara itu waktunya habis, mintalah tautan baru kepada {merchant}.",
  cannotCheckOver:
    "Belum membayar? Mohon jangan membayar sekarang. Mintalah tautan baru kepada {contact}.",
  cannotCheckOverSent:
    "Kami masih menunggu data terbaru dari jaringan {network}. Sudah mengirim? Mohon jangan kirim lagi: pembayaran Anda akan muncul di sini.",
  notAcceptedHeadline: "Saat ini tidak dapat membayar dengan cara ini",
  notAccepted:
    "Mohon jangan kirim {token} di jaringan {network}: {merchant} tidak menerimanya saat ini.",
  notAcceptedSent:
    "Sudah mengirim? Uangnya tidak hilang: uang itu masuk ke dompet {merchant}. Hubungi {contact} dan sebutkan kode referensi ini: {reference}.",
  notAcceptedElse: "Belum membayar? Tanyakan kepada {contact} cara lain untuk membayar.",
  notAcceptedOptions:
    "Belum membayar? Anda dapat membayar dengan token atau jaringan lain di bawah.",
  cannotConfirmNow:
    "Pembayaran Anda sudah ditemukan, jadi mohon jangan kirim lagi. Kami tidak dapat menjangkau jaringan {network} saat ini, jadi jumlah konfirmasinya mungkin belum terbaru. Anda boleh menutup halaman ini dan kembali lagi.",
  revertedHeadline: "Jaringan harus mengonfirmasi ulang pembayaran",
  revertedLead:
    "Mohon jangan membayar lagi. Jaringan {network} mengganti blok terbarunya, dan itu wajar, sehingga harus mengonfirmasi pembayaran Anda sekali lagi. Biasanya perlu beberapa menit. Uang Anda tidak hilang.",
  revertedNext:
    "Anda boleh menutup halaman ini dan kembali lagi. Jika satu jam setelah dikirim pembayaran Anda masih belum dikonfirmasi, hubungi {contact} dan sebutkan kode referensi ini: {reference}.",
  reverted:
    "Periksa dompet Anda sebelum mengirim apa pun: jaringan tidak mempertahankan pembayaran yang sebelumnya tampil di sini. Selama dompet Anda menampilkannya sebagai terkirim atau tertunda, mohon jangan kirim yang lain.",
  transactionFailed:
    "Transaksi yang Anda masukkan gagal di jaringan. Tidak ada {token} yang terkirim: uangnya masih ada pada Anda atau exchange Anda.",
  contactIfLong:
    "Belum ada keputusan setelah satu hari? Hubungi {contact} dan sebutkan kode referensi ini: {reference}.",
  contactOrRefund:
    "Belum ada keputusan setelah satu hari, atau lebih suka pengembalian dana? Hubungi {contact} dan sebutkan kode referensi ini: {reference}.",
  waitOrRefund: "Agar dananya pasti dapat dikembalikan, tinggalkan alamat Anda di bawah.",

  hashQuestion: "Sudah bayar, tetapi tidak tampil di sini?",
  hashAnother: "Masukkan ID transaksi lain",
  hashLead:
    "Tempelkan ID transaksi Anda (TxID atau hash) atau tautannya di block explorer. Kami akan mencarinya di jaringan {network}.",
  hashLabel: "ID transaksi (TxID atau hash) atau tautan",
  hashSend: "Cari",
  hashReceived:
    "Terima kasih. Kami sedang mencari transaksi Anda. Transaksi akan tampil di halaman ini setelah kami tahu bahwa itu untuk pembayaran ini. Mohon jangan kirim dua kali.",
  hashMalformed:
    "{problem} ID transaksi (TxID atau hash) terdiri dari 64 karakter, atau 66 dengan 0x di awalnya. Salin dari dompet atau exchange Anda, lalu tempelkan di kolom di bawah.",
  hashTooShort: "Ini terlalu pendek.",
  hashTooLong: "Ini terlalu panjang.",
  hashWrongCharacter: "Ini bukan ID transaksi: ada karakter selain angka dan huruf A sampai F.",
  hashNotInLink: "Kami tidak menemukan tepat satu ID transaksi dalam tautan ini.",
  hashIsAddress: "Ini alamat, bukan ID transaksi.",
  hashTooMany:
    "Kami masih memeriksa transaksi yang Anda masukkan. Tunggu hasilnya, atau hubungi {merchant}.",

  hashSubmitted: "Transaksi yang Anda masukkan",
  hashLooking: "Kami sedang mencari transaksi ini.",
  hashUnknown:
    "Jaringan belum mengenal transaksi ini. Kami akan terus mencoba selama satu jam. Bandingkan ID transaksinya dengan yang ada di dompet atau exchange Anda.",
  hashGivenUp:
    "Kami mencari transaksi ini selama satu jam dan tidak menemukannya. Anda dapat memasukkan ID transaksinya lagi.",
  hashDisplaced:
    "Kami tidak menemukan transaksi ini dan berhenti mencarinya agar ada tempat untuk yang lebih baru. Jika perlu, masukkan ID transaksinya lagi.",
  hashCounted: "Ditemukan. Transaksi ini dihitung untuk pembayaran ini.",
  hashInReview: "Ditemukan. {merchant} akan memutuskan apakah transaksi ini untuk pembayaran ini.",
  hashReverted:
    "Jaringan belum memfinalkan transaksi ini. Selama dompet Anda masih menampilkannya sebagai terkirim atau tertunda, mohon jangan kirim yang lain.",
  hashFailed: "Transaksi ini gagal di jaringan, jadi tidak ada {token} yang terkirim.",
  hashOtherAddress:
    "Transaksi ini masuk ke alamat lain, bukan ke alamat {merchant}. Lihat di dompet atau exchange Anda ke mana perginya.",
  hashOtherToken:
    "Transaksi ini mengirim sesuatu selain {token} di jaringan {network}. Hubungi {contact} dan sebutkan kode referensi ini: {reference}.",
  hashTokenDisabled:
    "Saat ini kami tidak dapat menerima {token} di jaringan {network}. Hubungi {contact} dan sebutkan kode referensi ini: {reference}.",
  hashTooSmall: "Jumlah dalam transaksi ini terlalu kecil untuk dihitung sebagai pembayaran.",
  hashTooEarly:
    "Transaksi ini terjadi sebelum pembayaran ini dibuat, jadi tidak mungkin untuk pembayaran ini.",
  hashTooLate:
    "Transaksi ini dibuat lama setelah waktu untuk membayar habis. Jika masuk ke alamat pembayaran ini, uangnya ada pada {merchant}. Hubungi {contact} dan sebutkan kode referensi ini: {reference}.",
  hashNotForThis:
    "Transaksi ini bukan pembayaran untuk tagihan ini. Jika Anda berpendapat lain, hubungi {contact} dan sebutkan kode referensi ini: {reference}.",

  refundAmount: "Minta {amount} dikembalikan",
  refundNext:
    "Tekan tombolnya dan masukkan alamat dompet Anda sendiri, atau alamat deposit Anda di exchange untuk {token} di jaringan {network}. {merchant} mengirim pengembalian dana secara manual, dan Anda akan melihat di sini saat dananya sudah dikirim.",
  refundSoon:
    "Anda dapat meminta pengembalian dana di sini dalam beberapa menit, setelah jaringan mengonfirmasi pembayaran.",
  refundAsked:
    "Pengembalian {refund} telah diminta. {merchant} mengirimnya secara manual, dan Anda akan melihat di sini saat dananya sudah dikirim. Belum ada kabar setelah beberapa hari? Hubungi {contact} dan sebutkan kode referensi ini: {reference}.",
  refundLead:
    "{merchant} dapat mengirim kembali yang tidak diperlukan untuk pembayaran ini. Masukkan alamat milik Anda: alamat dompet Anda atau alamat deposit Anda di exchange. Jangan masukkan alamat yang dipakai exchange untuk mengirim pembayaran Anda: yang dikirim ke sana bisa hilang.",
  refundAddressLabel: "Alamat Anda sendiri di jaringan {network}",
  refundContinue: "Lanjutkan",
  refundCheck: "Apakah ini alamat Anda?",
  refundCheckLead:
    "Anda meminta {merchant} mengirim {amount} di jaringan {network} ke alamat ini. Bandingkan setiap karakter dengan dompet Anda: yang dikirim ke alamat yang salah akan hilang, dan alamat tidak bisa diubah nanti.",
  refundSend: "Ya, minta pengembalian",
  refundChange: "Ubah",
  refundReceived:
    "Terima kasih. {merchant} sudah mendapat permintaan Anda. Halaman ini akan menampilkan saat dananya dikirim.",
  refundAlready:
    "Pengembalian untuk pembayaran ini sudah diminta, dan kami tidak mengubahnya. Jika bukan Anda yang meminta, segera hubungi {merchant} dan sebutkan kode referensi ini: {reference}.",
  refundNothing:
    "Kami tidak menemukan apa pun untuk dikembalikan dalam transaksi ini. Masukkan ID transaksi pembayaran terbaru Anda yang sudah dikonfirmasi di halaman ini, atau hubungi {merchant}.",
  refundTooEarly:
    "Jaringan masih mengonfirmasi pembayaran Anda, dan biasanya perlu beberapa menit. Mohon minta pengembalian dana lagi nanti. Jika dalam sehari belum berhasil, hubungi {merchant}.",
  refundBadAddress:
    "Itu tidak tampak seperti alamat di jaringan {network}. Salin lagi dari dompet Anda.",
  refundAddressRefused:
    "Pengembalian ke alamat ini tidak akan sampai kepada Anda. Masukkan alamat dompet Anda sendiri.",
  refunds: "Pengembalian dana",
  refundRequested: "{amount} ke {address}: diminta.",
  refundSent: "{amount} ke {address}: dikirim oleh {merchant}. Kami sedang memeriksa transaksinya.",
  refundConfirmed: "{amount} ke {address}: dikembalikan.",
  refundRejected: "{amount} ke {address}: ditolak oleh {merchant}. Alasan: {reason}",
  refundWithdrawn:
    "{amount} ke {address}: ditarik, karena pembayaran ternyata diperlukan atau tidak lagi ada di jaringan.",

  details: "Detail",
  receipt: "Bukti pembayaran",
  merchant: "Penjual",
  asked: "Jumlah yang diminta",
  invoiced: "Total pesanan",
  received: "Diterima",
  excess: "Kelebihan bayar",
  network: "Jaringan",
  reference: "Kode referensi",
  paidAt: "Dibayar",
  expires: "Bayar sebelum",
  expired: "Waktu habis",
  transaction: "Transaksi",
  print: "Cetak bukti pembayaran",
  questions: "Ada pertanyaan tentang pembayaran ini?",
  askMerchant: "Hubungi {merchant} dan sebutkan kode referensi ini:",
  mailSubject: "Pembayaran {reference}",
  neverAsks: "Halaman ini tidak pernah meminta kunci pribadi atau frasa pemulihan dompet Anda.",

  downloadReceipt: "Unduh bukti",
  verifyTitle: "Verifikasi bukti pembayaran",
  verifyLead:
    "Tempel bukti pembayaran atau permintaan pembayaran yang bertanda tangan. Tanda tangannya menunjukkan apakah teks berasal dari situs ini dan tidak diubah.",
  verifyLabel: "Teks bertanda tangan",
  verifySend: "Verifikasi",
  verifyReceipt: "Bukti pembayaran ini asli",
  verifyRequest: "Permintaan pembayaran ini asli",
  verifyRequestLead:
    "Permintaan ini mungkin sudah dibayar atau dibatalkan. Buka halaman pembayaran sebelum mengirim apa pun, dan cocokkan alamat serta jumlahnya dengan yang ditampilkan dompet Anda.",
  verifyExpired: "Batas waktunya sudah lewat. Jangan kirim apa pun.",
  verifyOpen: "Buka pembayaran",
  verifyRefused: "Kami tidak dapat memverifikasi teks ini",
  verifyChanged: "Teks telah diubah atau ada bagian yang hilang. Salin kembali seluruhnya.",
  verifyUnknown:
    "Teks ini tidak ditandatangani oleh situs ini. Jika berasal dari situs lain, verifikasi di sana.",
  verifyNotSigned:
    "Ini bukan teks bertanda tangan: teks bertanda tangan adalah satu baris panjang berisi huruf dan angka dengan dua titik di dalamnya.",
  verifyAddress: "Alamat",
  signedBy: "Ditandatangani oleh",
  signedOn: "Ditandatangani pada",

  linkTitle: "Bayar {merchant}",
  linkAmount: "Jumlah dalam {currency}",
  linkBetween: "Dari {min} sampai {max}",
  linkAtLeast: "Minimal {min}",
  linkAtMost: "Maksimal {max}",
  linkContinue: "Lanjut ke pembayaran",
  linkOption: "Token dan jaringan",
  linkBadOption: "Cara bayar itu tidak tersedia di sini. Pilih salah satu dari daftar.",
  linkBadAmount: "Jumlah itu tidak dapat digunakan di sini. Periksa dan tulis seperti 12.50.",
  linkBroken:
    "Pembayaran tidak dapat dimulai karena {merchant} harus memperbaiki tautan ini dahulu. Tidak ada yang dikirim. Silakan hubungi {merchant}.",
  linkUnavailable:
    "Pembayaran tidak dapat dimulai sekarang. Tidak ada yang dikirim. Silakan coba lagi nanti, atau hubungi {merchant}.",
  linkScan: "Pindai untuk membayar {merchant}",
  checkAgain: "Periksa lagi",
  back: "Kembali ke {merchant}",
  language: "Bahasa",
  connectionLost: "Halaman ini mungkin bukan versi terbaru. Kami sedang mencoba memperbaruinya.",
  notFoundHeadline: "Kami tidak menemukan tautan pembayaran ini",
  notFoundLead:
    "Pastikan tautannya lengkap, atau tanyakan kepada toko yang memberikannya. Jika Anda sudah membayar, mohon jangan membayar lagi: tanyakan kepada toko.",
  unavailableHeadline: "Kami tidak dapat memeriksa saat ini",
  unavailableLead:
    "Sudah membayar? Mohon jangan membayar lagi: pembayaran Anda akan dicari begitu semuanya berfungsi lagi. Periksa lagi dalam satu menit. Jika halaman ini belum kembali dalam satu jam, tanyakan kepada toko.",
  busyHeadline: "Mohon tunggu sebentar",
  busyLead:
    "Halaman ini baru saja dibuka terlalu sering, jadi kami berhenti sejenak. Sudah membayar? Mohon jangan membayar lagi: kami masih mencari pembayaran Anda. Waktu tunggu: {time}. Setelah itu, periksa lagi. Jika tadi Anda sedang memasukkan ID transaksi, masukkan lagi ID itu setelahnya.",
  refusedHeadline: "Tidak berhasil",
  refusedLead:
    "Kami tidak dapat membaca yang dikirim browser Anda, dan tidak ada yang berubah. Kembali ke pembayaran Anda dan coba lagi.",
  failedHeadline: "Terjadi kesalahan di pihak kami",
  failedLead:
    "Sudah membayar? Mohon jangan membayar lagi: kami masih mencari pembayaran Anda di jaringan. Periksa lagi dalam satu menit.",
  formNotReceived:
    "Jika Anda tadi memasukkan ID transaksi, mungkin kami belum menerimanya. Kembalilah ke pembayaran, dan masukkan ID-nya lagi jika transaksi itu tidak tercantum di sana.",
  failedReference: "Jika hal ini terus terjadi, kirimkan kode ini kepada penjual: {reference}",
  homeTitle: "Halaman pembayaran",
  homeHeadline: "Di sini penjual menerima pembayaran",
  homeLead:
    "Server ini menampilkan halaman pembayaran penjual yang menerima token kripto. Untuk membayar, buka tautan lengkap yang diberikan penjual kepada Anda.",
  homeDocs: "Untuk pengembang: dokumentasi API",
  testRibbon: "Jaringan uji: bukan uang sungguhan",
};
