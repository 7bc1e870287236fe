//! Conditions of DataFusion as conditions of assetq.
//!
//! A condition of SQL is true, false or unknown, and a scan returns the rows for which it is true. A [`Bound`] is true or
//! false. The two agree on `AND` and `OR`, and on comparisons with a literal, because a null cell satisfies no order and no
//! equality; `!=` of assetq holds for null cells, so that `IS NOT NULL` is added to it. `NOT` of other conditions is not translated.

use assetq::table::filter::{Bound, Compare, Op};
use assetq::table::{Column, Guid, Kind, Value};
use datafusion::arrow::datatypes::DataType;
use datafusion::datasource::listing::helpers::expr_applicable_for_cols;
use datafusion::logical_expr::expr::{Between, InList};
use datafusion::logical_expr::{BinaryExpr, Expr, Operator};
use datafusion::scalar::ScalarValue;

/// Values of `IN` that are compared with each row.
const MOST_VALUES: usize = 100;

/// A condition for the rows of a table.
#[derive(Debug)]
pub struct Condition {
    /// Holds for all rows that satisfy the expression.
    pub bound: Bound,
    /// Whether it holds for no other rows.
    pub is_exact: bool,
}

impl Condition {
    const fn exact(bound: Bound) -> Self {
        Self { bound, is_exact: true }
    }

    fn all(conditions: [Self; 2]) -> Self {
        let is_exact = conditions.iter().all(|condition| condition.is_exact);
        Self { bound: Bound::And(conditions.map(|condition| condition.bound).into()), is_exact }
    }

    fn any(conditions: Vec<Self>) -> Self {
        let is_exact = conditions.iter().all(|condition| condition.is_exact);
        Self { bound: Bound::Or(conditions.into_iter().map(|condition| condition.bound).collect()), is_exact }
    }
}

/// Whether an expression depends on nothing but the columns that all rows of a file share.
pub fn is_about_files(expr: &Expr, common: &[Column]) -> bool {
    let names: Vec<&str> = common.iter().map(|column| &*column.name).collect();
    let needs_plan = |expr: &Expr| {
        matches!(expr, Expr::Exists(_) | Expr::InSubquery(_) | Expr::ScalarSubquery(_) | Expr::SetComparison(_))
            || matches!(expr, Expr::OuterReferenceColumn(..) | Expr::ScalarVariable(..) | Expr::Placeholder(_))
    };
    expr.any_column_refs()
        && expr_applicable_for_cols(&names, expr)
        && !datafusion::common::tree_node::TreeNode::exists(expr, |expr| Ok(needs_plan(expr))).unwrap_or(true)
}

/// The condition that holds for all rows that satisfy `expr`. `None` if that is not known.
pub fn condition(expr: &Expr, columns: &[Column]) -> Option<Condition> {
    match expr {
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::And, right }) => {
            match (condition(left, columns), condition(right, columns)) {
                (Some(left), Some(right)) => Some(Condition::all([left, right])),
                (Some(one), None) | (None, Some(one)) => Some(Condition { is_exact: false, ..one }),
                (None, None) => None,
            }
        }
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Or, right }) => {
            Some(Condition::any(vec![condition(left, columns)?, condition(right, columns)?]))
        }
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => match (&**left, &**right) {
            (column, Expr::Literal(literal, _)) => Comparison::of(column, columns)?.with(*op, literal),
            (Expr::Literal(literal, _), column) => Comparison::of(column, columns)?.with(op.swap()?, literal),
            _ => None,
        },
        Expr::Between(Between { expr, negated, low, high }) => {
            let (Expr::Literal(low, _), Expr::Literal(high, _)) = (&**low, &**high) else { return None };
            let compared = Comparison::of(expr, columns)?;
            if *negated {
                Some(Condition::any(vec![compared.with(Operator::Lt, low)?, compared.with(Operator::Gt, high)?]))
            } else {
                Some(Condition::all([compared.with(Operator::GtEq, low)?, compared.with(Operator::LtEq, high)?]))
            }
        }
        Expr::InList(InList { expr, list, negated: false }) if list.len() <= MOST_VALUES => {
            let compared = Comparison::of(expr, columns)?;
            let equal = |value: &Expr| match value {
                Expr::Literal(literal, _) => compared.with(Operator::Eq, literal),
                _ => None,
            };
            list.iter().map(equal).collect::<Option<Vec<_>>>().map(Condition::any)
        }
        Expr::IsNull(of) => Comparison::of(of, columns)?.null(false),
        Expr::IsNotNull(of) => Comparison::of(of, columns)?.null(true),
        Expr::IsTrue(of) => condition(of, columns),
        Expr::IsFalse(of) | Expr::Not(of) => Comparison::of(of, columns)?.is(false),
        Expr::Column(_) => Comparison::of(expr, columns)?.is(true),
        _ => None,
    }
}

/// One side of a comparison.
#[derive(Clone, Copy)]
struct Comparison {
    column: usize,
    kind: Kind,
}

impl Comparison {
    /// The column that `expr` is, or whose single-precision floats it converts to doubles.
    fn of(expr: &Expr, columns: &[Column]) -> Option<Self> {
        let (named, is_double) = match expr {
            Expr::Column(named) => (named, false),
            Expr::Cast(cast) if *cast.field.data_type() == DataType::Float64 => (cast.expr.try_as_col()?, true),
            _ => return None,
        };
        let (column, kind) =
            (0..).zip(columns).find_map(|(n, column)| (column.name == named.name).then_some((n, column.kind)))?;
        (!is_double || kind == Kind::F32).then_some(Self { column, kind })
    }

    /// The comparison with a literal, whose type is the type of the column in Arrow.
    fn with(self, op: Operator, literal: &ScalarValue) -> Option<Condition> {
        let op = match op {
            Operator::Eq => Op::Eq,
            Operator::NotEq => Op::Ne,
            Operator::Lt => Op::Lt,
            Operator::LtEq => Op::Le,
            Operator::Gt => Op::Gt,
            Operator::GtEq => Op::Ge,
            _ => return None,
        };
        match (self.kind, literal) {
            (Kind::Int | Kind::Uint, ScalarValue::Int64(Some(number))) => self.compare(op, &Value::Int(*number)),
            (Kind::Int | Kind::Uint, ScalarValue::UInt64(Some(number))) => self.compare(op, &Value::Uint(*number)),
            (Kind::Bool, ScalarValue::Boolean(Some(truth))) => self.compare(op, &Value::Bool(*truth)),
            (Kind::F32 | Kind::F64, ScalarValue::Float32(Some(number))) => self.float(op, (*number).into()),
            (Kind::F32 | Kind::F64, ScalarValue::Float64(Some(number))) => self.float(op, *number),
            (Kind::Text, text) => self.compare(op, &Value::text(text.try_as_str()??)),
            (Kind::Id64 | Kind::Id32 | Kind::Guid, text) => self.id(op, text.try_as_str()??),
            _ => None,
        }
    }

    fn compare(self, op: Op, value: &Value<'_>) -> Option<Condition> {
        let compare = Bound::Compare(Compare::with(self.column, self.kind, op, value)?);
        Some(Condition::exact(match op {
            Op::Ne => Bound::And(vec![compare, self.null(true)?.bound]),
            _ => compare,
        }))
    }

    /// A comparison of floats that lets more rows through. In assetq a literal is rounded to the precision of the cell, both zeros
    /// are equal, and infinity is not null.
    fn float(self, op: Op, number: f64) -> Option<Condition> {
        let op = match op {
            Op::Eq => Op::Eq,
            Op::Lt | Op::Le => Op::Le,
            Op::Gt | Op::Ge => Op::Ge,
            _ => return None,
        };
        let compare = Compare::with(self.column, self.kind, op, &Value::F64(number))?;
        number.is_finite().then_some(Condition { bound: Bound::Compare(compare), is_exact: false })
    }

    /// A comparison with the text of an id. The texts of ids have the order of the ids, and other texts equal no id.
    fn id(self, op: Op, text: &str) -> Option<Condition> {
        let id = match self.kind {
            Kind::Id64 => assetq::id::parse(text).map(Value::Id64),
            Kind::Id32 => assetq::id::parse(text).and_then(|id| id.try_into().ok()).map(Value::Id32),
            _ => Guid::parse(text).map(Value::Guid),
        };
        match id.filter(|id| id.to_string() == text) {
            Some(id) => self.compare(op, &id),
            None => (op == Op::Eq).then(|| Condition::any(Vec::new())),
        }
    }

    /// Whether the cell is null, or with `negated` is not. Floats that are not finite are null in Arrow only, and nested values are
    /// converted.
    fn null(self, negated: bool) -> Option<Condition> {
        let is_same = !matches!(self.kind, Kind::F32 | Kind::F64 | Kind::Any | Kind::Nested);
        is_same.then(|| Condition::exact(Bound::Compare(Compare::null(self.column, self.kind, negated))))
    }

    /// Whether the truth in the column is `truth`.
    fn is(self, truth: bool) -> Option<Condition> {
        (self.kind == Kind::Bool).then(|| self.compare(Op::Eq, &Value::Bool(truth)))?
    }
}
