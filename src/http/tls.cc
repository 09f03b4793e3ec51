#include "http/tls.h"

#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace holdpoint {
namespace {

constexpr std::size_t kMaxFileBytes = 1 << 20;

struct FreeBio {
  void operator()(BIO* bio) const { BIO_free(bio); }
};
struct FreeCertificate {
  void operator()(X509* certificate) const { X509_free(certificate); }
};
struct FreeKey {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
using Bio = std::unique_ptr<BIO, FreeBio>;
using Certificate = std::unique_ptr<X509, FreeCertificate>;
using Key = std::unique_ptr<EVP_PKEY, FreeKey>;

// A file's content, wiped when it goes.
class FileContent {
 public:
  FileContent(const std::string& setting, const std::string& path, bool secret)
      : name_(setting + " " + path) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) fail(std::string("cannot be read: ") + std::strerror(errno));
    try {
      read_all(file, secret);
    } catch (...) {
      ::close(file);
      throw;
    }
    ::close(file);
  }
  ~FileContent() { OPENSSL_cleanse(text_.data(), text_.size()); }
  FileContent(const FileContent&) = delete;

  Bio bio() const { return Bio(BIO_new_mem_buf(text_.data(), static_cast<int>(text_.size()))); }
  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error(name_ + ": " + what);
  }

 private:
  void read_all(int file, bool secret) {
    struct stat status {};
    if (fstat(file, &status) != 0) fail(std::string("cannot be read: ") + std::strerror(errno));
    if (!S_ISREG(status.st_mode)) fail("cannot be read: it is no file");
    if (secret && (status.st_mode & (S_IROTH | S_IWOTH))) {
      fail("is open to every user of this machine; chmod 600 it");
    }
    if (static_cast<std::size_t>(status.st_size) > kMaxFileBytes) fail("is larger than 1 MiB");
    // One allocation, so that no copy of a key is left behind.
    text_.resize(static_cast<std::size_t>(status.st_size));
    std::size_t size = 0;
    while (size < text_.size()) {
      const ssize_t got = ::read(file, text_.data() + size, text_.size() - size);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) fail(std::string("cannot be read: ") + std::strerror(errno));
      if (got == 0) break;
      size += static_cast<std::size_t>(got);
    }
    text_.resize(size);
  }

  const std::string name_;
  std::string text_;
};

// Why OpenSSL's last call failed. Its reasons are fixed texts and hold nothing of a key.
std::string openssl_reason() {
  const char* reason = ERR_reason_error_string(ERR_peek_last_error());
  return reason ? reason : "no reason given";
}

// OpenSSL would ask for a passphrase on the terminal, and the server would hang there.
int no_passphrase(char*, int, int, void* asked) {
  *static_cast<bool*>(asked) = true;
  return -1;
}

void use_certificates(SSL_CTX* context, const FileContent& file) {
  const Bio bio = file.bio();
  bool asked = false;
  const Certificate own(PEM_read_bio_X509_AUX(bio.get(), nullptr, no_passphrase, &asked));
  if (!own) file.fail("holds no certificate in PEM form");
  if (SSL_CTX_use_certificate(context, own.get()) != 1) {
    file.fail("cannot be used: " + openssl_reason());
  }
  while (true) {
    Certificate next(PEM_read_bio_X509(bio.get(), nullptr, no_passphrase, &asked));
    if (!next) break;
    if (SSL_CTX_add0_chain_cert(context, next.get()) != 1) {
      file.fail("the chain cannot be used: " + openssl_reason());
    }
    (void)next.release();  // The context owns it now.
  }
  if (ERR_GET_REASON(ERR_peek_last_error()) != PEM_R_NO_START_LINE) {
    file.fail("a certificate of the chain cannot be read: " + openssl_reason());
  }
}

void use_key(SSL_CTX* context, const FileContent& file) {
  bool asked = false;
  const Key key(PEM_read_bio_PrivateKey(file.bio().get(), nullptr, no_passphrase, &asked));
  if (!key && asked) file.fail("has a passphrase; give the key without one");
  if (!key) file.fail("holds no private key in PEM form");
  if (X509_check_private_key(SSL_CTX_get0_certificate(context), key.get()) != 1) {
    file.fail("the key does not belong to the certificate");
  }
  if (SSL_CTX_use_PrivateKey(context, key.get()) != 1) {
    file.fail("cannot be used: " + openssl_reason());
  }
}

int choose_http_1_1(SSL*, const unsigned char** out, unsigned char* out_size,
                    const unsigned char* offered, unsigned int offered_size, void*) {
  static constexpr std::array<unsigned char, 9> kHttp11{8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
  unsigned char* chosen = nullptr;
  if (SSL_select_next_proto(&chosen, out_size, kHttp11.data(), kHttp11.size(), offered,
                            offered_size) != OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  }
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

}  // namespace

void TlsSession::Free::operator()(ssl_st* ssl) const { SSL_free(ssl); }
void TlsContext::Free::operator()(ssl_ctx_st* context) const { SSL_CTX_free(context); }

Progress TlsSession::stopped(int result) {
  switch (SSL_get_error(ssl_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return {-1, POLLIN};
    case SSL_ERROR_WANT_WRITE:
      return {-1, POLLOUT};
    case SSL_ERROR_ZERO_RETURN:
      return {0};
    default:
      plain_http_ = ERR_GET_REASON(ERR_peek_error()) == SSL_R_HTTP_REQUEST;
      usable_ = false;  // OpenSSL forbids SSL_shutdown from here on.
      return {};
  }
}

Progress TlsSession::handshake() {
  ERR_clear_error();
  const int result = SSL_accept(ssl_.get());
  if (result != 1) return stopped(result);
  usable_ = true;
  return {1};
}

Progress TlsSession::read(char* out, std::size_t size) {
  ERR_clear_error();
  std::size_t got = 0;
  const int result = SSL_read_ex(ssl_.get(), out, size, &got);
  return result == 1 ? Progress{static_cast<ssize_t>(got)} : stopped(result);
}

Progress TlsSession::write(std::string_view bytes) {
  ERR_clear_error();
  std::size_t sent = 0;
  const int result = SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &sent);
  return result == 1 ? Progress{static_cast<ssize_t>(sent)} : stopped(result);
}

bool TlsSession::has_pending() const { return SSL_pending(ssl_.get()) > 0; }

bool TlsSession::is_peer_alive() {
  ERR_clear_error();
  char byte = 0;
  std::size_t got = 0;
  const int result = SSL_peek_ex(ssl_.get(), &byte, 1, &got);
  return result == 1 || stopped(result).wants != 0;
}

void TlsSession::close() {
  if (!usable_) return;
  ERR_clear_error();
  SSL_shutdown(ssl_.get());
  usable_ = false;
}

TlsContext::TlsContext(std::string cert_file, std::string key_file)
    : cert_file_(std::move(cert_file)), key_file_(std::move(key_file)), context_(load()) {}

TlsContext::Context TlsContext::load() const {
  ERR_clear_error();
  Context context(SSL_CTX_new(TLS_server_method()));
  if (!context) throw std::runtime_error("TLS cannot be set up: " + openssl_reason());
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  // Under 1.2 too, only what keeps past traffic secret when the key is lost.
  SSL_CTX_set_cipher_list(context.get(), "ECDHE+AESGCM:ECDHE+CHACHA20");
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  // Idle connections give their buffers back; there may be thousands.
  SSL_CTX_set_mode(context.get(), SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                      SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  // Clients keep their sessions as tickets. The tickets' keys die with the context, so that after
  // a reload nobody resumes under the old certificate.
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_alpn_select_cb(context.get(), choose_http_1_1, nullptr);
  use_certificates(context.get(), FileContent("tls_cert", cert_file_, false));
  use_key(context.get(), FileContent("tls_key", key_file_, true));
  return context;
}

void TlsContext::reload() {
  Context fresh = load();
  // The old one lives on in the sessions that it made.
  context_.with([&](Context& context) { context.swap(fresh); });
}

std::unique_ptr<TlsSession> TlsContext::new_session(int socket) {
  SSL* ssl = context_.with([](Context& context) { return SSL_new(context.get()); });
  if (!ssl) return nullptr;
  auto session = std::make_unique<TlsSession>(ssl);
  const int flags = fcntl(socket, F_GETFL);
  if (fcntl(socket, F_SETFL, flags | O_NONBLOCK) != 0 || SSL_set_fd(ssl, socket) != 1) {
    return nullptr;
  }
  return session;
}

}  // namespace holdpoint
