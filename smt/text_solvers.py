"""Bitwuzla and cvc5, asked through SMT-LIB 2 text."""

from __future__ import annotations

from importlib.metadata import version

from .solvers import Answer, Query, timed_out


class Bitwuzla:
    """Bitwuzla through its Python package's parser.

    Parameters
    ----------
    abstraction : bool
        Abstract products, quotients and remainders, and refine them by lemmas: slower on most queries,
        faster by far where numbers of 32 or 64 bits are multiplied.
    """

    def __init__(self, abstraction: bool = False) -> None:
        self.name = f"bitwuzla {version('bitwuzla')}" + (" with abstraction" if abstraction else "")
        self._abstraction = abstraction

    def check(self, query: Query, timeout: float) -> Answer:
        """Answer a query; see `Solver.check`."""
        import bitwuzla

        options = bitwuzla.Options()
        options.set(bitwuzla.Option.PRODUCE_MODELS, True)
        options.set(bitwuzla.Option.ABSTRACTION, self._abstraction)
        options.set(bitwuzla.Option.TIME_LIMIT_PER, max(1, int(timeout * 1000)))
        try:
            parser = bitwuzla.Parser(bitwuzla.TermManager(), options)
            parser.parse(query.smtlib(), parse_only=True, parse_file=False)
            solver = parser.bitwuzla()
            result = solver.check_sat()
            if result == bitwuzla.Result.SAT:
                constants = [term for term in parser.get_declared_funs() if term.sort().is_bv()]
                model = {_unquoted(c.symbol()): int(solver.get_value(c).value(10)) for c in constants}
                return Answer("sat", self.name, model)
        except bitwuzla.BitwuzlaException as reason:
            return Answer("unknown", self.name, message=_one_line(reason))
        if result == bitwuzla.Result.UNSAT:
            return Answer("unsat", self.name)
        return Answer("unknown", self.name, message=timed_out(timeout))


class CVC5:
    """cvc5 through its Python package's parser."""

    def __init__(self) -> None:
        self.name = f"cvc5 {version('cvc5')}"

    def check(self, query: Query, timeout: float) -> Answer:
        """Answer a query; see `Solver.check`."""
        import cvc5

        solver = cvc5.Solver(cvc5.TermManager())
        solver.setOption("produce-models", "true")
        solver.setOption("fp-exp", "true")  # without it there are only Float32 and Float64
        solver.setOption("tlimit-per", str(max(1, int(timeout * 1000))))
        try:
            parser = cvc5.InputParser(solver)
            parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, query.smtlib(), "query")
            symbols = parser.getSymbolManager()
            while (command := parser.nextCommand()).getCommandName() != "check-sat":
                command.invoke(solver, symbols)
            result = solver.checkSat()
            if result.isSat():
                declared, model = symbols.getDeclaredTerms(), {}
                for term in declared:
                    if (sort := term.getSort()).isBitVector():
                        model[_unquoted(term.getSymbol())] = int(solver.getValue(term).getBitVectorValue(10))
                    elif sort.isInteger():
                        model[_unquoted(term.getSymbol())] = int(solver.getValue(term).getIntegerValue())
                return Answer("sat", self.name, model)
        except RuntimeError as reason:
            return Answer("unknown", self.name, message=_one_line(reason))
        if result.isUnsat():
            return Answer("unsat", self.name)
        explanation = result.getUnknownExplanation()
        late = explanation == cvc5.UnknownExplanation.TIMEOUT
        return Answer("unknown", self.name, message=timed_out(timeout) if late else explanation.name.lower())


def _unquoted(symbol: str) -> str:
    return symbol.removeprefix("|").removesuffix("|")


def _one_line(reason: Exception) -> str:
    return " ".join(str(reason).split()) or type(reason).__name__
