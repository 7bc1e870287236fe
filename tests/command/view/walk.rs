//! A random walk over a table: values that are chosen, conditions, orders and steps back, compared with `ls` after each step.

use super::*;

/// The filter and the order after a step, as a person would write them.
#[derive(Clone, Default)]
struct State {
    /// Values that are chosen by clicks: of a column any of them.
    chosen: Vec<(String, Vec<String>)>,
    /// Further conditions, in the words of the page and of `--where`.
    conditions: Vec<[String; 2]>,
    order: Option<(String, bool)>,
}

impl State {
    /// The rows by `ls`, with all columns that the page has.
    fn listed(&self, dir: &Path, file: &str, table: &str, columns: &str) -> String {
        let literal = |text: &String| format!("'{}'", text.replace('\'', "''"));
        let chosen = self.chosen.iter().map(|(column, values)| {
            let any: Vec<String> = values.iter().map(|value| format!("\"{column}\" = {}", literal(value))).collect();
            format!("({})", any.join(" or "))
        });
        let all: Vec<String> = chosen.chain(self.conditions.iter().map(|[_, condition]| condition.clone())).collect();
        let mut args = vec!["ls", file, "-t", table, "-c", columns, "-f", "csv", "-q"];
        let condition = all.join(" and ");
        if !all.is_empty() {
            args.extend(["--where", &condition]);
        }
        let order =
            self.order.as_ref().map(|(column, down)| format!("{column}:{}", if *down { "desc" } else { "asc" }));
        if let Some(order) = &order {
            args.extend(["--sort", order]);
        }
        let out = std::process::Command::new(crate::common::program()).current_dir(dir).args(&args).output().unwrap();
        // 1: no row matches.
        assert!(matches!(out.status.code(), Some(0 | 1)), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).unwrap()
    }
}

/// The view of the table that is shown.
const VIEW: &str = "assetq.page.parts.find(({ element }) => element && !element.hidden).view";

/// Waits until what was asked for is shown, with the values of all columns, and gives the rows as CSV.
fn shown(tab: &Tab<'_>) -> String {
    let csv = tab.eval(&format!(
        "(async () => {{ const view = {VIEW}; const quiet = () => new Promise((next) => setTimeout(next, 160)); \
         do await quiet(); while (view.tally.textContent === '…' || [...view.facets.values()].some(({{ body }}) => body.textContent === '…')); \
         if (!view.fault.hidden) throw new Error(view.fault.textContent); \
         return assetq.rowsAs('csv', view.table, view.table.columns.map(({{ n }}) => n), view.rows, view.count); }})()"
    ));
    csv.as_str().unwrap().to_owned()
}

/// Conditions that the page and `--where` both can state, of a column and a value in it.
fn condition(rng: &mut fastrand::Rng, column: &str, kind: &str, value: &str) -> [String; 2] {
    let in_page = if value.contains([' ', '"', '|']) || value.is_empty() {
        format!("\"{}\"", value.replace('"', "\"\""))
    } else {
        value.to_owned()
    };
    let literal = format!("'{}'", value.replace('\'', "''"));
    let word: String = value.chars().filter(|c| c.is_alphanumeric()).take(2).collect();
    match rng.u8(..6) {
        0 if !word.is_empty() && kind != "Nested" => [format!("{column}:{word}"), format!("{column} ~ '*{word}*'")],
        1 if !word.is_empty() && kind != "Nested" => {
            [format!("-{column}:{word}"), format!("({column} !~ '*{word}*' or {column} is null)")]
        }
        2 if matches!(kind, "Int" | "Uint" | "F32" | "F64" | "Text") => {
            let operator = ["<", "<=", ">", ">="][rng.usize(..4)];
            [format!("{column}{operator}{in_page}"), format!("{column} {operator} {literal}")]
        }
        3 => [format!("{column}="), format!("{column} is null")],
        4 => [format!("-{column}={in_page}"), format!("({column} != {literal} or {column} is null)")],
        _ => [format!("{column}!={in_page}"), format!("{column} != {literal}")],
    }
}

#[test]
fn any_walk_over_values_conditions_orders_and_back_shows_the_rows_of_ls() {
    let Some(browser) = Browser::start() else { return };
    let dir = TempDir::new().unwrap();
    sample(dir.path(), "assets.bin", Size::Small);
    sample(dir.path(), "town.wdata", Size::Small);
    let steps = std::env::var("ASSETQ_CASES").map_or(12, |cases| cases.parse().unwrap());
    for (seed, (file, table)) in
        [("assets.bin", "resources"), ("assets.bin", "material_properties"), ("town.wdata", "npc_boxes")]
            .into_iter()
            .enumerate()
    {
        let tab = view(&browser, dir.path(), file, 1280, Scheme::Light);
        go(&tab, &format!("table={table}"));
        tab.wait(&format!("{VIEW}.table?.table === '{table}'"));
        let columns: Vec<(String, String)> =
            serde_json::from_value(tab.eval(&format!("{VIEW}.table.columns.map(({{ name, kind }}) => [name, kind])")))
                .unwrap();
        let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
        let names = names.join(",");
        let mut rng = fastrand::Rng::with_seed(33 + seed as u64);
        let mut states = vec![State::default()];
        for step in 0..steps {
            let (column, kind) = &columns[rng.usize(..columns.len())];
            let mut next = states.last().unwrap().clone();
            // Many conditions leave no row, so that there is nothing to compare.
            let act = if next.chosen.len() + next.conditions.len() > 2 { 8 } else { rng.u8(..10) };
            let what = match act {
                0..3 if kind != "Nested" => {
                    tab.eval(&format!("(() => {{ const view = {VIEW}; const {{ n }} = view.table.columns.find(({{ name }}) => name === '{column}'); if (!view.facets.has(n)) view.openProfile(n); }})()"));
                    shown(&tab);
                    let values: Vec<String> = serde_json::from_value(tab.eval(&format!(
                        "[...{VIEW}.profile.querySelectorAll('[aria-label={}] .facet')].map((e) => e.dataset.value.slice(1))", json!(column)))).unwrap();
                    let Some(at) = (!values.is_empty()).then(|| rng.usize(..values.len())) else { continue };
                    tab.eval(&format!(
                        "{VIEW}.profile.querySelectorAll('[aria-label={}] .facet')[{at}].click()",
                        json!(column)
                    ));
                    // The values of a column take the place of its other conditions by order and value.
                    let is_replaced = |page: &str| {
                        page.strip_prefix(column.as_str()).is_some_and(|rest| rest.starts_with(['=', '<', '>']))
                    };
                    next.conditions.retain(|[page, _]| !is_replaced(page));
                    let known = next.chosen.iter().position(|(name, _)| name == column);
                    let mut chosen = known.map_or_else(Vec::new, |at| next.chosen.remove(at).1);
                    match chosen.iter().position(|value| *value == values[at]) {
                        Some(at) => drop(chosen.remove(at)),
                        None => chosen.push(values[at].clone()),
                    }
                    if !chosen.is_empty() {
                        next.chosen.push((column.clone(), chosen));
                    }
                    format!("choose {column} = {}", values[at])
                }
                3..6 => {
                    let of_rows = tab.eval(&format!(
                        "(async (table, at) => {{ const column = table.columns.find(({{ name }}) => name === '{column}'); await table.wholly([column.n]); return table.text(column.n, at % table.rows); }})({VIEW}.table, {})",
                        rng.u16(..)
                    ));
                    let made = match of_rows.as_str() {
                        Some(cell) => condition(&mut rng, column, kind, cell),
                        None => [format!("{column}="), format!("{column} is null")],
                    };
                    tab.eval(&format!(
                        "(() => {{ const {{ input }} = {VIEW}; input.value = (input.value + ' ' + {}).trim(); input.dispatchEvent(new Event('input')); input.dispatchEvent(new Event('change')); }})()",
                        json!(made[0])
                    ));
                    next.conditions.push(made.clone());
                    made[0].clone()
                }
                6..8 if kind != "Nested" => {
                    tab.eval(&format!(
                        "{VIEW}.sort({VIEW}.table.columns.find(({{ name }}) => name === '{column}').n), 0"
                    ));
                    next.order = match next.order {
                        Some((name, false)) if name == *column => Some((name, true)),
                        Some((name, true)) if name == *column => None,
                        _ => Some((column.clone(), false)),
                    };
                    format!("sort by {column}")
                }
                8.. if states.len() > 1 => {
                    tab.eval("history.back()");
                    states.pop();
                    next = states.pop().unwrap();
                    "back".to_owned()
                }
                _ => continue,
            };
            states.push(next);
            let found = shown(&tab);
            let listed = states.last().unwrap().listed(dir.path(), file, table, &names);
            let query = tab.eval("location.hash");
            assert!(found == listed, "{file} {table}, step {step}: {what}\n{query}\nthe page:\n{found}\nls:\n{listed}");
        }
        assert_eq!(tab.errors(), [""; 0]);
    }
}
