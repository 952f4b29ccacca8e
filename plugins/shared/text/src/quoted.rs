//! Whether a sentence goes on behind a quote that has a stop of its own.

use crate::chain::Chain;
use crate::stop::trailing_punctuation;

/// Longest clause behind a quote in Chinese that says who said it, in characters.
const LONGEST_REPORT: usize = 8;

/// Whether the word at this position goes on with the sentence in which a quote ended before it.
pub fn is_quoted_inside(chain: &Chain, at: usize) -> bool {
    let (before, after) = (chain.words[at - 1].text.trim(), chain.words[at].text.as_str());
    let tail = trailing_punctuation(before);
    if after.trim_start().starts_with(char::is_lowercase) {
        return tail.ends_with(['"', '”', '“', '\'', '’', '»', '«', '›', '‹']);
    }
    if !tail.ends_with(['"', '”', '’', '\'', '」', '』']) {
        return false;
    }
    match chain.language.as_deref() {
        Some("zh" | "yue") => is_report_in_chinese(chain, at),
        Some("ko") => is_particle_in_korean(after),
        _ => tail.ends_with(['」', '』', '”']) && is_particle_in_japanese(after.trim_start()),
    }
}

/// `「行く？」と聞いた`: the particle that puts a quote into a sentence.
fn is_particle_in_japanese(after: &str) -> bool {
    after.starts_with('と') || after.starts_with("って")
}

/// `"가자."라고 말했다`: particles follow without a space; those that quote may be set apart.
fn is_particle_in_korean(after: &str) -> bool {
    let word = after.trim();
    let is_attached = after.starts_with(|c| matches!(c, '가'..='힣'));
    let is_whole = matches!(word, "고" | "하고" | "란" | "이란");
    let is_quoting =
        ["라고", "이라고", "라는", "이라는", "라며", "이라며", "라면서", "이라면서", "라던", "이라던"]
            .iter()
            .any(|particle| word.starts_with(particle));
    is_attached || is_whole || is_quoting
}

/// `“走吧。”他说。`: a short clause about who said it, unless it announces the next quote.
fn is_report_in_chinese(chain: &Chain, at: usize) -> bool {
    let mut clause = String::new();
    for c in chain.words[at..].iter().flat_map(|word| word.text.trim().chars()) {
        match c {
            ':' | '：' => return false,
            c if !c.is_alphanumeric() => break,
            c => clause.push(c),
        }
        if clause.chars().count() > LONGEST_REPORT {
            return false;
        }
    }
    let clause = clause.trim_end_matches(['了', '着', '著']);
    !clause.starts_with(['你', '您', '谁', '誰']) && ends_in_saying(clause)
}

fn ends_in_saying(clause: &str) -> bool {
    const SAYING: [char; 10] = ['说', '說', '问', '問', '答', '喊', '叫', '嚷', '骂', '罵'];
    let mut backwards = clause.chars().rev();
    let last = backwards.next();
    let previous = backwards.next();
    match last {
        Some('道') => previous.is_some_and(|c| SAYING.contains(&c) || matches!(c, '笑' | '哭')),
        Some(c) => SAYING.contains(&c) && !matches!(previous, Some('不' | '没' | '沒' | '别' | '別')),
        None => false,
    }
}
