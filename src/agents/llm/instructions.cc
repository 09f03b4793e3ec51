#include "agents/llm/instructions.h"

namespace holdpoint {

std::string instructions(const AgentDefinition& agent, bool is_sub_agent) {
  std::string text = agent.prompt;
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  text +=
      "\n\n# How you run\n"
      "A program started you with a payload; nobody watches. What you write in your last message "
      "is "
      "your result.";
  if (is_sub_agent) {
    text +=
        " You are a sub-agent: your result goes to the agent that started you. You can neither ask "
        "people nor start agents. Work with the payload alone, and say what you had to assume.";
  } else if (agent.async_questions) {
    text +=
        " People can be reached with ask_user_question alone; a question in your text reaches "
        "nobody.";
  } else {
    text +=
        " You cannot ask people anything. Work with the payload alone, and say what you had to "
        "assume.";
  }
  return text;
}

std::string first_message(const std::string& payload) {
  return "The payload, as JSON:\n" + payload;
}

}  // namespace holdpoint
