export const Button = ({ label, onClick }: { label: string; onClick: () => void }) => (
  <button style={{ color: "red" }} onClick={onClick}>{label}</button>
);
