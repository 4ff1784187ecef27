//! Answers with a shape. A schema is a wish that not every endpoint grants, so what comes back is
//! checked here whatever it promised; a model is told once what was wrong, and then given up on.

use serde::de::DeserializeOwned;

use super::{LanguageModel, Prompt, unusable};
use crate::Mnemic;
use crate::error::Result;
use crate::principal::Scope;

/// How much of a wrong answer the model is shown again.
const SHOWN_BYTES_MAX: usize = 4 * 1024;
const PROBLEM_CHARS_MAX: usize = 300;

impl Mnemic {
    /// Asks the workspace's model for JSON that reads as `T` and passes `check`, and says which
    /// model gave it. `None` where there is no model; an error where it gave nothing that could be
    /// used, also after it was told why: then rules are to serve.
    pub async fn ask_model_json<T: DeserializeOwned + Send>(
        &self,
        scope: Scope,
        prompt: &Prompt,
        check: impl Fn(&T) -> Result<(), String> + Send + Sync,
    ) -> Result<Option<(T, String)>> {
        let Some(model) = self.language_model(scope).await? else { return Ok(None) };
        let value = json(&*model, prompt, |value| check(&value).map(|()| value)).await?;
        Ok(Some((value, model.label().to_owned())))
    }
}

/// What `take` makes of the JSON that a model answers with. Where it cannot be used, the model is
/// told why, once.
pub(crate) async fn json<T: DeserializeOwned, U>(
    model: &dyn LanguageModel,
    prompt: &Prompt,
    take: impl Fn(T) -> Result<U, String> + Sync,
) -> Result<U> {
    let answer = model.complete(prompt).await?;
    let problem = match read(&answer, &take) {
        Ok(value) => return Ok(value),
        Err(problem) => problem,
    };
    tracing::debug!(model = model.label(), problem, "the model is told what was wrong");
    let answer = model.complete(&repair(prompt, &answer, &problem)).await?;
    read(&answer, &take).map_err(|problem| unusable(&problem))
}

fn read<T: DeserializeOwned, U>(
    answer: &str,
    take: &impl Fn(T) -> Result<U, String>,
) -> Result<U, String> {
    let value = serde_json::from_str(unfenced(answer)).map_err(|e| {
        let problem: String = e.to_string().chars().take(PROBLEM_CHARS_MAX).collect();
        format!("it is not the JSON that was asked for ({problem})")
    })?;
    take(value)
}

/// Models like to put JSON into a block of code.
fn unfenced(answer: &str) -> &str {
    let answer = answer.trim();
    let Some(inside) = answer.strip_prefix("```").and_then(|rest| rest.strip_suffix("```")) else {
        return answer;
    };
    inside.strip_prefix("json").unwrap_or(inside).trim()
}

fn repair(prompt: &Prompt, answer: &str, problem: &str) -> Prompt {
    let shown = &answer[..answer.floor_char_boundary(SHOWN_BYTES_MAX)];
    let user = format!(
        "{}\n\nYour last answer was\n<answer>\n{shown}\n</answer>\nand could not be used: \
         {problem}. Answer again, with the corrected JSON and nothing else.",
        prompt.user
    );
    Prompt { user, ..prompt.clone() }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::error::Code;
    use async_trait::async_trait;
    use serde::Deserialize;

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Fact {
        text: String,
    }

    /// Plays back answers, and remembers what it was asked.
    struct Script {
        answers: Vec<&'static str>,
        asked: Mutex<Vec<String>>,
    }

    #[async_trait]
    impl LanguageModel for Script {
        fn label(&self) -> &'static str {
            "test:script"
        }

        async fn complete(&self, prompt: &Prompt) -> Result<String> {
            let mut asked = self.asked.lock().unwrap();
            asked.push(prompt.user.clone());
            Ok(self.answers[asked.len() - 1].to_owned())
        }
    }

    async fn ask_script(answers: &[&'static str]) -> (Result<Fact>, Vec<String>) {
        let script = Script { answers: answers.to_vec(), asked: Mutex::default() };
        let prompt = Prompt { user: "what is known?".to_owned(), ..Prompt::default() };
        let take = |fact: Fact| match fact.text.as_str() {
            "" => Err("text is empty".to_owned()),
            _ => Ok(fact),
        };
        let answer = json(&script, &prompt, take).await;
        (answer, script.asked.into_inner().unwrap())
    }

    #[tokio::test]
    async fn what_fits_is_taken_at_once() {
        for answer in
            [r#"{"text":"tea"}"#, " {\"text\":\"tea\"}\n", "```json\n{\"text\":\"tea\"}\n```"]
        {
            let (fact, asked) = ask_script(&[answer]).await;
            assert_eq!((fact.unwrap().text.as_str(), asked.len()), ("tea", 1), "{answer}");
        }
    }

    #[tokio::test]
    async fn a_wrong_answer_is_mended_once() {
        for wrong in ["tea", r#"{"text":"te"#, r#"{"txt":"tea"}"#, r#"{"text":""}"#, "[]"] {
            let (fact, asked) = ask_script(&[wrong, r#"{"text":"tea"}"#]).await;
            assert_eq!(fact.unwrap().text, "tea");
            assert!(asked[1].starts_with("what is known?") && asked[1].contains(wrong));
        }
        let (fact, asked) = ask_script(&[r#"{"text":""}"#, "tea"]).await;
        assert_eq!((fact.unwrap_err().code(), asked.len()), (Code::ModelAnswer, 2));
        assert!(asked[1].contains("text is empty"));
    }
}
