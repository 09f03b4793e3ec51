// What people really send back, from the programs they use.
#include "domain/mail_reply.h"

#include <doctest/doctest.h>

using namespace holdpoint;

namespace {

struct Sent {
  std::string from;  // Which program, and what is special.
  std::string text;
  std::string newest;
};

const std::vector<Sent> kSent{
    {"plain", "Yes", "Yes"},
    {"crlf and blank lines around", "\r\n\r\n  Yes  \r\n\r\n", "Yes"},
    {"two paragraphs", "Yes\n\nBut be careful.\n", "Yes\n\nBut be careful."},
    {"Gmail",
     "Yes\n\nOn Mon, Nov 16, 2026 at 1:00 PM Holdpoint <holdpoint@example.org> wrote:\n\n> poet "
     "asks:\n>\n> Deploy?\n",
     "Yes"},
    {"Gmail, wrapped",
     "Go ahead\n\nOn Mon, Nov 16, 2026 at 1:00 PM Holdpoint <\nreply+abc@example.org> "
     "wrote:\n\n> Deploy?\n",
     "Go ahead"},
    {"Gmail, wrapped twice",
     "2\n\nOn Mon, Nov 16, 2026 at 1:00 PM The very long name of somebody's "
     "agent\n<reply+abcdefghijklmnopqrstuvwxyz@holdpoint.example.org>\nwrote:\n\n> Deploy?\n",
     "2"},
    {"Gmail, German",
     "Ja\n\nAm Mo., 16. Nov. 2026 um 13:00 Uhr schrieb Holdpoint <\nholdpoint@example.org>:\n\n> "
     "Deploy?\n",
     "Ja"},
    {"Gmail, French",
     "Oui\n\nLe lun. 16 nov. 2026 à 13:00, Holdpoint <holdpoint@example.org> a écrit :\n\n> "
     "Deploy?\n",
     "Oui"},
    {"Gmail, Spanish",
     "Sí\n\nEl lun, 16 nov 2026 a las 13:00, Holdpoint (<holdpoint@example.org>)\nescribió:\n\n> "
     "Deploy?\n",
     "Sí"},
    {"Gmail, Italian",
     "Sì\n\nIl giorno lun 16 nov 2026 alle ore 13:00 Holdpoint <\nholdpoint@example.org> ha "
     "scritto:\n\n> Deploy?\n",
     "Sì"},
    {"Gmail, Portuguese",
     "Sim\n\nEm seg., 16 de nov. de 2026 às 13:00, Holdpoint <holdpoint@example.org>\n"
     "escreveu:\n\n> Deploy?\n",
     "Sim"},
    {"Gmail, Dutch",
     "Ja\n\nOp ma 16 nov 2026 om 13:00 schreef Holdpoint <holdpoint@example.org>:\n\n> Deploy?\n",
     "Ja"},
    {"Gmail, Swedish",
     "Ja\n\nDen mån 16 nov. 2026 kl 13:00 skrev Holdpoint <holdpoint@example.org>:\n\n> Deploy?\n",
     "Ja"},
    {"Gmail, Polish",
     "Tak\n\npon., 16 lis 2026 o 13:00 Holdpoint <holdpoint@example.org> napisał(a):\n\n> "
     "Deploy?\n",
     "Tak"},
    {"Gmail, Russian",
     "Да\n\nпн, 16 нояб. 2026 г. в 13:00, Holdpoint <holdpoint@example.org>:\n\n> Deploy?\n", "Да"},
    {"Gmail, Japanese",
     "はい\n\n2026年11月16日(月) 13:00 Holdpoint <holdpoint@example.org>:\n\n> Deploy?\n", "はい"},
    {"Gmail, Chinese",
     "好\n\nHoldpoint <holdpoint@example.org> 于2026年11月16日周一 13:00写道：\n\n> Deploy?\n",
     "好"},
    {"Gmail, Korean",
     "예\n\n2026년 11월 16일 (월) 오후 1:00, Holdpoint <holdpoint@example.org>님이 작성:\n\n> "
     "Deploy?\n",
     "예"},
    {"Gmail with a signature",
     "Yes\n\n-- \nAna Example\nHead of Everything\n\nOn Mon, Nov 16, 2026 at 1:00 PM Holdpoint "
     "<h@example.org>\nwrote:\n\n> Deploy?\n",
     "Yes"},
    {"a signature whose dashes lost their space", "Yes\n--\nAna", "Yes"},
    {"Outlook for Windows",
     "Yes\n\nFrom: Holdpoint <holdpoint@example.org>\nSent: Monday, November 16, 2026 1:00 "
     "PM\nTo: Ana <ana@example.org>\nSubject: [poet] Deploy?\n\npoet asks:\n\nDeploy?\n",
     "Yes"},
    {"Outlook on the web",
     "No\n________________________________\nFrom: Holdpoint <holdpoint@example.org>\nSent: Monday, "
     "November 16, 2026 1:00 PM\nTo: Ana\nSubject: x\n\nDeploy?\n",
     "No"},
    {"Outlook, old",
     "Yes\n\n-----Original Message-----\nFrom: Holdpoint [mailto:holdpoint@example.org]\nSent: "
     "16 November 2026 13:00\nTo: Ana\nSubject: x\n\nDeploy?\n",
     "Yes"},
    {"Outlook, German",
     "Ja\n\nVon: Holdpoint <holdpoint@example.org>\nGesendet: Montag, 16. November 2026 13:00\nAn: "
     "Ana\nBetreff: x\n\nDeploy?\n",
     "Ja"},
    {"Outlook, old and German", "Ja\n\n-----Ursprüngliche Nachricht-----\nVon: Holdpoint\nDeploy?",
     "Ja"},
    {"Outlook, French",
     "Oui\n\nDe : Holdpoint <holdpoint@example.org>\nEnvoyé : lundi 16 novembre 2026 13:00\nÀ : "
     "Ana\nObjet : x\n\nDeploy?\n",
     "Oui"},
    {"Outlook, Spanish",
     "Sí\n\nDe: Holdpoint <holdpoint@example.org>\nEnviado: lunes, 16 de noviembre de 2026 "
     "13:00\nPara: Ana\nAsunto: x\n\nDeploy?\n",
     "Sí"},
    {"Outlook, Dutch",
     "Ja\n\nVan: Holdpoint <h@example.org>\nVerzonden: maandag 16 november 2026 13:00\nAan: "
     "Ana\nOnderwerp: x\n\nDeploy?",
     "Ja"},
    {"Outlook, Chinese",
     "是\n\n发件人: Holdpoint <h@example.org>\n发送时间: 2026年11月16日 13:00\n收件人: "
     "Ana\n\nDeploy?",
     "是"},
    {"Outlook for iOS",
     "Approve\n\nGet Outlook for iOS<https://aka.ms/o0ukef>\n________________________________\n"
     "From: Holdpoint <h@example.org>\nSent: Monday\nTo: Ana\nSubject: x\n\nDeploy?\n",
     "Approve"},
    {"Outlook for Android",
     "2\n\nGet Outlook for "
     "Android<https://aka.ms/AAb9ysg>\n________________________________\nFrom: "
     "Holdpoint",
     "2"},
    {"Outlook, with its fields in bold",
     "Yes\n\n*From:* Holdpoint <h@example.org>\n*Sent:* Monday, November 16, 2026\n*To:* "
     "Ana\n*Subject:* x\n\nDeploy?",
     "Yes"},
    {"Windows Mail",
     "Yes\n\nSent from Mail for Windows\n\nFrom: Holdpoint\nSent: Monday, 16 November 2026\nTo: "
     "Ana\nSubject: x\n\nDeploy?",
     "Yes"},
    {"Apple Mail",
     "Yes\n\n> On 16 Nov 2026, at 13:00, Holdpoint <h@example.org> wrote:\n> \n> Deploy?\n", "Yes"},
    {"Apple Mail, unmarked line",
     "Yes\n\nOn 16 Nov 2026, at 13:00, Holdpoint <h@example.org> wrote:\n\nDeploy?\n\n1. Yes\n2. "
     "No\n",
     "Yes"},
    {"iPhone",
     "Yes\n\nSent from my iPhone\n\n> On 16 Nov 2026, at 13:00, Holdpoint <h@example.org> "
     "wrote:\n> \n> ﻿Deploy?\n",
     "Yes"},
    {"iPhone, German",
     "Ja\n\nVon meinem iPhone gesendet\n\n> Am 16.11.2026 um 13:00 schrieb Holdpoint "
     "<h@example.org>:\n> \n> Deploy?\n",
     "Ja"},
    {"iPhone, French",
     "Oui\n\nEnvoyé de mon iPhone\n\n> Le 16 nov. 2026 à 13:00, Holdpoint <h@example.org> a écrit "
     ":\n> \n> Deploy?\n",
     "Oui"},
    {"iPhone, Spanish", "Sí\n\nEnviado desde mi iPhone\n\n> El 16 nov 2026, escribió:\n> Deploy?",
     "Sí"},
    {"iPhone, Japanese",
     "はい\n\niPhoneから送信\n\n> 2026/11/16 13:00、Holdpointのメール:\n> Deploy?", "はい"},
    {"iPhone, Chinese",
     "好\n\n发自我的 iPhone\n\n> 在 2026年11月16日，13:00，Holdpoint 写道：\n> x", "好"},
    {"iPad", "No\nSent from my iPad\n\n> Deploy?", "No"},
    {"Samsung",
     "Yes\n\nSent from my Galaxy\n\n-------- Original message --------\nFrom: Holdpoint "
     "<h@example.org>\nDate: 16/11/2026 13:00\nTo: Ana\nSubject: x\n\nDeploy?\n",
     "Yes"},
    {"Android, German",
     "Ja\n\nVon meinem Samsung Galaxy Smartphone gesendet.\n\n-------- Ursprüngliche Nachricht "
     "--------\nVon: Holdpoint",
     "Ja"},
    {"Thunderbird, above", "Yes\n\nOn 11/16/26 13:00, Holdpoint wrote:\n> Deploy?\n> \n> 1. Yes\n",
     "Yes"},
    {"Thunderbird, below",
     "On 11/16/26 13:00, Holdpoint wrote:\n> Deploy?\n> \n> 1. Yes\n> 2. No\n\nNo\n\n-- \nAna\n",
     "No"},
    {"Thunderbird, German", "Ja.\n\nAm 16.11.26 um 13:00 schrieb Holdpoint:\n> Deploy?\n", "Ja."},
    {"Thunderbird, in between",
     "On 11/16/26 13:00, Holdpoint wrote:\n> Deploy?\n\nYes, please\n\n> 1. Yes\n> 2. No\n",
     "Yes, please"},
    {"K-9 Mail",
     "Yes\n\nOn November 16, 2026 1:00:00 PM GMT+01:00, Holdpoint <h@example.org> wrote:\n>poet "
     "asks:\n>Deploy?\n",
     "Yes"},
    {"Yahoo",
     "Yes\n\nOn Monday, November 16, 2026 at 01:00:00 PM GMT+1, Holdpoint <h@example.org> wrote:  "
     "\n \n poet asks:\n\n Deploy?\n",
     "Yes"},
    {"Yahoo mobile",
     "Yes\n\nSent from Yahoo Mail on Android\n\n  On Mon, Nov 16, 2026 at 1:00 PM, "
     "Holdpoint<h@example.org> wrote:   Deploy?\n",
     "Yes"},
    {"Proton",
     "Yes\n\nSent with Proton Mail secure email.\n\nOn Monday, November 16th, 2026 at 1:00 PM, "
     "Holdpoint <h@example.org> wrote:\n\n> Deploy?\n",
     "Yes"},
    {"GMX", "Ja\n\nGesendet mit der GMX Mail App\n\nAm 16.11.26 um 13:00 schrieb Holdpoint\n> x",
     "Ja\n\nAm 16.11.26 um 13:00 schrieb Holdpoint"},
    {"Zoho",
     "Yes\n\n---- On Mon, 16 Nov 2026 13:00:00 +0100 Holdpoint <h@example.org> wrote ----\n\n"
     "Deploy?\n",
     "Yes"},
    {"mutt", "On Mon, Nov 16, 2026 at 01:00:00PM +0100, Holdpoint wrote:\n> Deploy?\n\n1\n", "1"},
    {"Emacs", "Holdpoint <h@example.org> writes:\n\n> Deploy?\n\nYes\n", "Yes"},
    {"Apple Mail, quoting nothing but its line", "> On 16 Nov 2026, at 13:00, Holdpoint wrote:\n",
     ""},
    {"only quoted text", "> Deploy?\n>\n> 1. Yes\n", ""},
    {"nothing", "", ""},
    {"only a signature", "-- \nAna\n", ""},
    {"only what the phone adds", "Sent from my iPhone\n", ""},
    {"HTML turned to text",
     "Yes\nOn Mon, Nov 16, 2026 at 1:00 PM Holdpoint <h@example.org> wrote:\n>\n", "Yes"},
    {"HTML turned to text, written below",
     "On Mon, Nov 16, 2026 at 1:00 PM Holdpoint <h@example.org> wrote:\n>\nYes\n", "Yes"},
    {"a sentence that only looks like one of those lines",
     "On second thought, this is what I wrote:\nship it\n",
     "On second thought, this is what I wrote:\nship it"},
    {"a sentence that begins as a phone's line", "Von meinem Standpunkt aus: ja.\n",
     "Von meinem Standpunkt aus: ja."},
    {"a list with dashes", "- one\n- two\n", "- one\n- two"},
    {"a table of own words", "From: now on\nall is well\n", "From: now on\nall is well"},
    {"greater than in a line", "use a > b\n", "use a > b"},
    {"three dashes of one's own", "---\nyes\n---", "---\nyes\n---"},
};

QuestionSpec question(const std::vector<const char*>& labels, bool several = false,
                      bool other = true) {
  QuestionSpec spec;
  spec.question = "Deploy?";
  for (const char* label : labels) spec.options.push_back({label, "", "", false});
  spec.multi_select = several;
  spec.allow_other = other;
  return spec;
}

// `Yes | No`, or `? why`.
std::string reading(const QuestionSpec& spec, const std::string& text) {
  const auto read = read_reply(spec, newest_text(text), {});
  CHECK(read.values.empty() != read.unclear.empty());
  if (!read.unclear.empty()) return "? " + read.unclear;
  std::string out;
  for (const auto& value : read.values) out.append(out.empty() ? "" : " | ").append(value);
  return out;
}

bool is_unclear(const QuestionSpec& spec, const std::string& text) {
  return reading(spec, text).starts_with("? ");
}

}  // namespace

TEST_CASE("what is new in a reply is told from what it quotes and what programs add") {
  CHECK(kSent.size() >= 60);
  for (const auto& sent : kSent) {
    CAPTURE(sent.from);
    CHECK(newest_text(sent.text) == sent.newest);
  }
}

TEST_CASE("a question without options takes the whole text") {
  const auto spec = question({});
  CHECK(reading(spec, "Ship it.\n\nBut not today.\n\n> Deploy?") == "Ship it.\n\nBut not today.");
  CHECK(reading(spec, "2") == "2");
  CHECK(is_unclear(spec, "> Deploy?"));
  CHECK(is_unclear(spec, " \n\t\n"));
  CHECK(is_unclear(spec, std::string(10001, 'x')));
  CHECK(reading(spec, std::string(10000, 'x')).size() == 10000);
}

TEST_CASE("the first line chooses an option by its number") {
  const auto spec = question({"Yes", "No", "Later"}, false, false);
  for (const char* text : {"2", "2.", "#2", "2)", "(2)", " 2 ", "*2*", "\"2\"", "Option 2",
                           "2\n\nBest regards\nAna", "2\n> 1. Yes"}) {
    CAPTURE(text);
    CHECK(reading(spec, text) == "No");
  }
  for (const char* text : {"0", "4", "99999999999", "-", "1 2", "2nd", "1.5", "1/2", "two"}) {
    CAPTURE(text);
    CHECK(is_unclear(spec, text));
  }
}

TEST_CASE("the first line chooses an option by its label") {
  const auto spec = question({"Yes", "No", "Ship it now!", "Zürich", "Don't"}, false, false);
  for (const char* text : {"yes", "YES", "Yes.", "Yes!", "\"yes\"", "“Yes”", "*Yes*", "**yes**",
                           "_yes_", "Yes,", "  yes  ", "Yes\n\nAna", "- yes", "`Yes`"}) {
    CAPTURE(text);
    CHECK(reading(spec, text) == "Yes");
  }
  CHECK(reading(spec, "ship it now") == "Ship it now!");
  CHECK(reading(spec, "Ship  it\u00a0now!") == "Ship it now!");
  CHECK(reading(spec, "ZÜRICH") == "Zürich");
  CHECK(reading(spec, "don’t") == "Don't");
}

TEST_CASE("a first line that only begins like an option is never taken for it") {
  for (const bool other : {false, true}) {
    const auto spec = question({"Yes", "No", "是"}, false, other);
    for (const char* text :
         {"No problem, go ahead", "No, wait", "Yes but only staging", "Yes - tomorrow", "yes / no",
          "Yes or No", "1 or 2", "1 is fine", "2: no", "#1 please", "No… hmm", "是的", "yes, no",
          "1, 2", "Yes and No", "1 and 2", "Yes\nNo", "1\n2"}) {
      CAPTURE(text);
      CHECK(is_unclear(spec, text));
    }
  }
  CHECK(reading(question({"Yes", "No"}), "No problem, go ahead") ==
        "? \"No problem, go ahead\" begins like the option \"No\", but goes on");
  CHECK(reading(question({"Yes", "No"}), "Yes and no") ==
        "? it names \"Yes\" and \"No\", and one can be chosen");
  CHECK(reading(question({"Yes", "No"}), "7") == "? there is no option 7");
}

TEST_CASE("an option with a remark after a colon is an own answer that says both") {
  const auto spec = question({"Yes", "No", "Too risky"});
  for (const char* text :
       {"Yes: but only staging", "too risky: not on a Friday", "no: wait\nAna"}) {
    CAPTURE(text);
    CHECK(reading(spec, text) == text);
    CHECK(is_unclear(question({"Yes", "No", "Too risky"}, false, false), text));
  }
  CHECK(reading(spec, "Yes:") == "Yes");
  CHECK(reading(spec, "Yesterday: no") == "Yesterday: no");
  CHECK(is_unclear(spec, "1: no"));
}

TEST_CASE("other words are an own answer where that is allowed, and unclear where it is not") {
  for (const char* text : {"Let me think", "Nothing of the kind", "Yesterday it broke",
                           "We should say yes", "10 of them\nat least", "Hi,\n\nYes\n"}) {
    CAPTURE(text);
    CHECK(reading(question({"Yes", "No"}), text) == newest_text(text));
    CHECK(is_unclear(question({"Yes", "No"}, false, false), text));
  }
}

TEST_CASE("several options are chosen where the question takes several") {
  const auto spec = question({"Red", "Green", "Blue", "Black, white and grey"}, true, false);
  for (const char* text :
       {"1, 3", "3,1", "1 and 3", "1 & 3", "1;3", "Red, Blue", "blue and red", "Red, and blue",
        "red & 3", "1, Red, 3", "1\n3", "- Red\n- Blue", "#1, #3", "1. , 3.", "Red und Blue"}) {
    CAPTURE(text);
    CHECK(reading(spec, text) == "Red | Blue");
  }
  CHECK(reading(spec, "2") == "Green");
  CHECK(reading(spec, "black, white and grey, red") == "Red | Black, white and grey");
  CHECK(reading(spec, "1, 2, 3, 4") == "Red | Green | Blue | Black, white and grey");
  for (const char* text : {"1 3", "1, 5", "Red, Yellow", "Red or Blue", "Red Blue", "all", ", ,"}) {
    CAPTURE(text);
    CHECK(is_unclear(spec, text));
  }
  // A list and a label at once.
  CHECK(is_unclear(question({"A", "B", "A, B"}, true), "A, B"));
}

TEST_CASE("where labels are numbers a number is a label, unless it says otherwise") {
  const auto spec = question({"2", "1", "10"}, false, false);
  CHECK(reading(spec, "2") == "2");
  CHECK(reading(spec, "1") == "1");
  CHECK(reading(spec, "10") == "10");
  CHECK(reading(spec, "#1") == "2");
  CHECK(is_unclear(spec, "3"));
  CHECK(is_unclear(question({"5", "10"}), "1"));
}

TEST_CASE("labels that differ only around the edges are told apart exactly or not at all") {
  const auto spec = question({"Go", "Go!", "No"}, false, false);
  CHECK(reading(spec, "go") == "Go");
  CHECK(reading(spec, "go!") == "Go!");
  CHECK(is_unclear(spec, "go."));
}

TEST_CASE("no text takes long to read") {
  const auto spec = question({"Red", "Green", "Blue"}, true);
  for (const std::string piece : {",", "1,", "Red and ", " ", "\n", ">", "1\n", "On 1 wrote:\n",
                                  "From:\nTo:\n", "a@b\n", "“", "\xc2\xa0"}) {
    std::string text;
    while (text.size() < 262'144) text += piece;
    const auto began = std::chrono::steady_clock::now();
    (void)read_reply(spec, newest_text(text), {});
    (void)read_reply(spec, text, {});
    CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds{5});
  }
}
