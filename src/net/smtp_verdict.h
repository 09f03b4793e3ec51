#pragma once

#include <curl/curl.h>

#include <string>

#include "net/smtp_client.h"

namespace holdpoint {

// How a talk with a mail server ended.
struct SmtpEnd {
  CURLcode code = CURLE_OK;
  std::string detail;   // In libcurl's words.
  std::string command;  // The last one sent.
  std::string reply;    // The server's to it; empty: none.
};

// What that means for the mail, in words that name the setting to mend.
SmtpResult judge(const SmtpEnd& end, const SmtpOptions& options);

}  // namespace holdpoint
