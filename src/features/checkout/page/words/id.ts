import type { Catalogue } from "./en.ts";

/**
 * The payers' texts in Indonesian. Machine translation of en.ts, not yet reviewed by a native speaker. Its texts are
 * those of en.ts with the digest 4190b25d657d.
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
  arrives:
    "Jumlah yang diterima harus tepat {amount}. Membayar dari exchange? Tambahkan biayanya, agar yang diterima tepat {amount}.",
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
    "Apakah dompet atau exchange Anda menampilkannya sebagai selesai? Kalau begitu, jangan membayar lagi: hubungi {contact} dan sebutkan kode referensi ini: {reference}. Jika tidak, Anda boleh membayar lagi di bawah.",
  lookingLead:
    "Mohon jangan membayar lagi. Biasanya perlu beberapa menit. Jika tidak kami temukan dalam satu jam, halaman ini akan memberitahukannya. Anda boleh menutup halaman ini dan kembali lagi.",
  lookingHeadline: "Mencari transaksi Anda",
  sentFailedHeadline: "Transaksi Anda gagal",
  enteredHeadline: "Transaksi itu bukan untuk pembayaran ini",
  enteredNext:
    "Mohon jangan membayar lagi dulu. Salah memasukkan? Masukkan yang benar di bawah. Anda membayar dengan yang ini? Hubungi {contact} dan sebutkan kode referensi ini: {reference}.",
  goneHeadline: "Jaringan tidak lagi menampilkan pembayaran Anda",
  goneLead:
    "Periksa dompet atau exchange Anda. Jika pembayaran berstatus terkirim, tertunda, atau selesai, tunggu dan jangan membayar lagi. Jika berstatus gagal, uangnya masih ada pada Anda dan Anda boleh membayar lagi di bawah. Masih belum ada di sini setelah satu jam? Hubungi {contact} dan sebutkan kode referensi ini: {reference}.",
  partlyPaidHeadline: "Sebagian pembayaran Anda sudah masuk",
  partlyPaidLead:
    "Kirim sisa {remaining} untuk menyelesaikan pembayaran. Kami menerima {received} dari {payable}.",
  partlyPaidSent:
    "Sudah mengirim sisanya? Mohon jangan kirim dua kali: sisanya akan muncul di sini.",
  partlyPaidElse:
    "Tidak mengirim sisanya? Setelah waktu untuk membayar habis, Anda dapat meminta uang Anda kembali di sini.",
  partlyPaidGone:
    "{received} sudah masuk. Pembayaran lain yang sempat kami lihat tidak lagi ada di jaringan. Periksa dompet atau exchange Anda: jika pembayaran itu berstatus terkirim, tertunda, atau selesai, tunggu. Jika berstatus gagal, kirim sisanya di bawah.",
  confirmingHeadline: "Pembayaran terdeteksi",
  confirmingLead:
    "Anda tidak perlu melakukan apa pun lagi dan boleh menutup halaman ini. Jaringan sedang mengonfirmasi pembayaran Anda. Perkiraan waktu: {wait}.",
  confirmationCount: "Konfirmasi: {current} dari {required}",
  waitUnderMinute: "kurang dari satu menit",
  waitAbout: "sekitar {time}",
  inReviewHeadline: "Pembayaran ditemukan, menunggu penjual",
  inReviewLead:
    "Mohon tunggu dan jangan kirim lagi. {merchant} yang memutuskan apakah akan menerima atau mengembalikan pembayaran Anda. Keputusannya akan muncul di halaman ini.",
  inReviewUnclear: "Pembayaran Anda tidak dapat dicocokkan secara otomatis.",
  inReviewAmount: "Kami menerima {arrived}, tetapi yang diminta adalah {payable}.",
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
    "Mohon tunggu dan jangan kirim apa pun lagi. {merchant} yang memutuskan apakah akan menerima atau mengembalikan pembayaran Anda. Keputusannya akan muncul di halaman ini.",
  expiredHeadline: "Waktu untuk membayar sudah habis",
  expiredLead:
    "Belum mengirim? Mohon jangan kirim apa pun sekarang. Mintalah tautan baru kepada {merchant}.",
  newLink:
    "Mohon jangan kirim apa pun sekarang. Mintalah tautan baru kepada {contact} dan sebutkan kode referensi ini: {reference}.",
  expiredSent:
    "Sudah mengirim? Mohon jangan kirim lagi: pembayaran Anda masih dapat muncul di sini, jadi simpan tautan halaman ini. Masih belum ada di sini satu jam setelah dikirim? Hubungi {contact} dan sebutkan kode referensi ini: {reference}.",
  expiredPartlyHeadline: "Hanya sebagian yang dibayar tepat waktu",
  expiredPartlyLead:
    "Mohon jangan lagi mengirim sisanya: waktu untuk membayar sudah habis. Kami menerima {received} dari {payable}.",
  expiredPartlyNext:
    "Hubungi {contact} tentang {received} yang sudah masuk dan sebutkan kode referensi ini: {reference}.",
  canceledHeadline: "Dibatalkan oleh {merchant}",
  canceledLead: "Mohon jangan kirim apa pun: {merchant} membatalkan pesanan ini.",
  notNeededLead: "Kami menerima {arrived}. Mohon jangan kirim apa pun lagi.",
  canceledPaidHeadline: "Dibatalkan, tetapi pembayaran Anda masuk",
  canceledPaidLead:
    "Mohon tunggu dan jangan kirim apa pun lagi. {merchant} telah membatalkan pesanan ini dan kini memutuskan apakah akan menerima atau mengembalikan pembayaran Anda. Keputusannya akan muncul di halaman ini.",
  cannotCheckHeadline: "Kami tidak dapat memeriksa jaringan saat ini",
  cannotCheckSince: "Terakhir diperiksa: {time}.",
  cannotCheckLead:
    "Sudah mengirim? Mohon jangan kirim lagi: pembayaran Anda akan ditemukan begitu jaringan {network} dapat dibaca lagi.",
  cannotCheckOpen:
    "Belum membayar? Sebaiknya tunggu sampai kami dapat membaca jaringan lagi, dan minta tautan baru jika waktunya habis. Jika Anda membayar sekarang, kami akan melihatnya saat itu.",
  cannotCheckOver:
    "Belum membayar? Mohon jangan membayar sekarang. Mintalah tautan baru kepada {contact}.",
  cannotCheckOverSent:
    "Sudah mengirim? Mohon jangan kirim lagi: kami belum membaca jaringan {network} sampai akhir waktu itu. Halaman ini akan menampilkan apa yang kami temukan.",
  notAcceptedHeadline: "Saat ini tidak dapat membayar dengan cara ini",
  notAccepted:
    "Mohon jangan kirim apa pun: saat ini {merchant} tidak menerima {token} di jaringan {network}. Sudah mengirim, atau ingin membayar dengan cara lain? Hubungi {contact} dan sebutkan kode referensi ini: {reference}.",
  cannotConfirmNow:
    "Kami tidak dapat menjangkau jaringan {network} saat ini. Konfirmasi berlanjut begitu kami bisa. Pembayaran Anda sudah ditemukan, jadi mohon jangan kirim lagi.",
  revertedHeadline: "Jaringan harus mengonfirmasi ulang pembayaran",
  revertedLead:
    "Mohon jangan membayar lagi. Jaringan {network} mengurutkan ulang transaksi terbarunya dan harus mengonfirmasi transaksi Anda lagi. Ini kadang terjadi, dan biasanya pembayaran muncul lagi dalam beberapa menit.",
  revertedNext:
    "Anda boleh menutup halaman ini dan kembali lagi. Masih belum ada di sini satu jam setelah dikirim? Hubungi {contact} dan sebutkan kode referensi ini: {reference}.",
  reverted:
    "Periksa dompet Anda sebelum mengirim apa pun: jaringan tidak mempertahankan pembayaran yang sebelumnya tampil di sini. Selama dompet Anda menampilkannya sebagai terkirim atau tertunda, mohon jangan kirim yang lain.",
  transactionFailed: "Transaksi yang Anda masukkan gagal di jaringan: uang Anda tidak berpindah.",
  contact: "Ada pertanyaan? Hubungi {contact} dan sebutkan kode referensi ini: {reference}.",
  contactIfLong:
    "Belum ada keputusan setelah satu hari? Hubungi {contact} dan sebutkan kode referensi ini: {reference}.",
  waitOrRefund: "Lebih suka uang Anda kembali? Sebutkan di bawah ke mana uang itu harus dikirim.",

  hashQuestion: "Sudah bayar, tetapi tidak tampil di sini?",
  hashLead:
    "Tempelkan ID transaksi Anda (TxID atau hash) atau tautannya di block explorer. Kami akan mencarinya di jaringan {network}.",
  hashLabel: "ID transaksi (TxID atau hash) atau tautan",
  hashSend: "Cari",
  hashReceived:
    "Terima kasih. Kami sedang mencari transaksi Anda. Transaksi akan tampil di halaman ini setelah kami tahu bahwa itu untuk pembayaran ini. Mohon jangan kirim dua kali.",
  hashMalformed:
    "Ini bukan ID transaksi (TxID atau hash). ID terdiri dari 64 karakter, misalnya 3f5a…, dan bisa diawali 0x. Salin dari dompet atau exchange Anda, lalu tempelkan di kolom di bawah.",
  hashTooMany:
    "Kami masih memeriksa transaksi yang Anda masukkan. Tunggu hasilnya, atau hubungi penjual.",

  hashSubmitted: "Transaksi yang Anda masukkan",
  hashLooking: "Kami sedang mencari transaksi ini.",
  hashUnknown:
    "Jaringan belum mengenal transaksi ini. Kami akan terus mencoba selama satu jam. Mohon periksa apakah hash sudah disalin dengan benar.",
  hashGivenUp:
    "Kami tidak menemukan transaksi ini. Jika sekarang sudah ada di jaringan, masukkan hash-nya lagi.",
  hashDisplaced:
    "Kami tidak menemukan transaksi ini dan berhenti mencarinya agar ada tempat untuk yang lebih baru. Jika perlu, masukkan hash-nya lagi.",
  hashCounted: "Ditemukan. Transaksi ini dihitung untuk pembayaran ini.",
  hashInReview: "Ditemukan. {merchant} akan memutuskan apakah transaksi ini untuk pembayaran ini.",
  hashReverted:
    "Jaringan belum memfinalkan transaksi ini. Selama dompet Anda masih menampilkannya sebagai terkirim atau tertunda, mohon jangan kirim yang lain.",
  hashFailed: "Transaksi ini gagal di jaringan, jadi tidak ada {token} yang terkirim.",
  hashOtherAddress:
    "Transaksi ini tidak mengirim apa pun ke alamat pembayaran ini. Periksa di dompet Anda ke mana transaksi itu dikirim.",
  hashOtherToken:
    "Transaksi ini mengirim sesuatu selain {token} di jaringan {network}, jadi tidak dihitung. Hubungi {merchant} dan sebutkan kode referensi ini: {reference}.",
  hashTokenDisabled:
    "Saat ini kami tidak dapat menerima {token} di jaringan {network}. Hubungi {merchant} dan sebutkan kode referensi ini: {reference}.",
  hashTooSmall: "Jumlah dalam transaksi ini terlalu kecil untuk dihitung sebagai pembayaran.",
  hashTooEarly:
    "Transaksi ini terjadi sebelum pembayaran ini dibuat, jadi tidak mungkin untuk pembayaran ini.",
  hashTooLate:
    "Waktu untuk membayar sudah terlalu lama habis sehingga kami tidak dapat mencocokkan transaksi ini. Hubungi {merchant} dan sebutkan kode referensi ini: {reference}.",
  hashNotForThis:
    "Transaksi ini bukan pembayaran untuk tagihan ini. Jika Anda berpendapat lain, hubungi {merchant} dan sebutkan kode referensi ini: {reference}.",

  refundQuestion: "Minta pengembalian dana",
  refundAmount: "Minta {amount} dikembalikan",
  refundNext:
    "Masukkan alamat dompet tujuan pengembalian dana. {merchant} mengirim pengembalian dana dari dompetnya sendiri, dan halaman ini akan menunjukkan kapan.",
  refundAsked:
    "Anda meminta {refund} dikembalikan. {merchant} mengirim pengembalian dana secara manual, dan halaman ini akan menunjukkan kapan. Jika tidak terjadi apa-apa, hubungi {contact} dan sebutkan kode referensi ini: {reference}.",
  refundLead:
    "{merchant} dapat mengirim kembali yang tidak diperlukan untuk pembayaran ini. Masukkan ID transaksi (TxID atau hash) pembayaran Anda dan alamat dompet Anda sendiri. Jangan masukkan alamat exchange yang Anda pakai untuk membayar: yang dikirim ke sana bisa hilang.",
  refundAddressLabel: "Alamat Anda sendiri di jaringan {network}",
  refundContinue: "Lanjutkan",
  refundCheck: "Apakah ini alamat Anda?",
  refundCheckLead:
    "Anda meminta {merchant} mengirim {amount} di jaringan {network} ke alamat ini. Bandingkan setiap karakter dengan dompet Anda: yang dikirim ke alamat yang salah akan hilang, dan alamat tidak bisa diubah nanti.",
  refundSend: "Ya, minta pengembalian",
  refundChange: "Ubah",
  refundReceived:
    "Terima kasih. {merchant} sudah menerima permintaan Anda dan akan memutuskannya. Halaman ini akan menunjukkan saat pengembalian dikirim.",
  refundAlready:
    "Pengembalian untuk pembayaran ini sudah diminta, dan kami tidak mengubahnya. Jika bukan Anda yang meminta, segera hubungi {merchant} dan sebutkan kode referensi ini: {reference}.",
  refundNothing:
    "Kami tidak menemukan apa pun untuk dikembalikan dalam transaksi ini. Masukkan hash pembayaran Anda yang sudah dikonfirmasi di halaman ini, atau hubungi {merchant}.",
  refundBadAddress:
    "Itu tidak tampak seperti alamat di jaringan {network}. Salin lagi dari dompet Anda.",
  refundAddressRefused:
    "Pengembalian ke alamat ini tidak akan sampai kepada Anda. Masukkan alamat dompet Anda sendiri.",
  refunds: "Pengembalian dana",
  refundRequested: "{amount} ke {address}: diminta. {merchant} akan memutuskannya.",
  refundSent: "{amount} ke {address}: dikirim oleh {merchant}. Kami sedang memeriksa transaksinya.",
  refundConfirmed: "{amount} ke {address}: dikembalikan.",
  refundRejected: "{amount} ke {address}: ditolak oleh {merchant}. Alasan: {reason}",
  refundWithdrawn:
    "{amount} ke {address}: ditarik, karena pembayaran ternyata diperlukan atau tidak lagi ada di jaringan.",

  details: "Detail",
  receipt: "Bukti pembayaran",
  merchant: "Penjual",
  asked: "Jumlah yang diminta",
  invoiced: "Jumlah tagihan",
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
  linkBadAmount: "Jumlah itu tidak dapat digunakan di sini. Periksa dan tulis seperti 12.50.",
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
    "Halaman ini baru saja dibuka terlalu sering, jadi kami berhenti sejenak. Sudah membayar? Mohon jangan membayar lagi: kami masih mencari pembayaran Anda. Waktu tunggu: {time}. Setelah itu, periksa lagi. Jika tadi Anda sedang memasukkan hash transaksi, masukkan lagi hash itu setelahnya.",
  refusedHeadline: "Tidak berhasil",
  refusedLead:
    "Kami tidak dapat membaca yang dikirim browser Anda, dan tidak ada yang berubah. Kembali ke pembayaran Anda dan coba lagi.",
  failedHeadline: "Terjadi kesalahan di pihak kami",
  failedLead:
    "Sudah membayar? Mohon jangan membayar lagi: kami masih mencari pembayaran Anda di jaringan. Periksa lagi dalam satu menit.",
  formNotReceived:
    "Jika Anda tadi memasukkan hash transaksi, mungkin kami belum menerimanya. Kembalilah ke pembayaran, dan masukkan hash-nya lagi jika transaksi itu tidak tercantum di sana.",
  failedReference: "Jika hal ini terus terjadi, kirimkan kode ini kepada penjual: {reference}",
  homeTitle: "Halaman pembayaran",
  homeHeadline: "Di sini penjual menerima pembayaran",
  homeLead:
    "Server ini menampilkan halaman pembayaran penjual yang menerima token kripto. Untuk membayar, buka tautan lengkap yang diberikan penjual kepada Anda.",
  homeDocs: "Untuk pengembang: dokumentasi API",
  testRibbon: "Jaringan uji: bukan uang sungguhan",
};
